"""Secret words are each of one user, and found in any text."""

from tests.fleet.secret_words import SecretWords


def test_no_word_is_given_twice() -> None:
    words = SecretWords()
    given = [words.new(f"user {n}") for n in range(5000)]
    assert len(set(given)) == 5000
    assert {len(word) for word in given} == {6}


def test_words_of_others_are_found_and_ones_own_are_not() -> None:
    words = SecretWords()
    ann, bob = words.new("ann"), words.new("bob")
    text = f"You know {ann} and {bob.lower()}, said Nobody."
    assert words.of_others(text, "ann") == [bob.lower()]
    assert words.of_others(text, "bob") == [ann]
    assert words.of_others(text, "cid") == [ann, bob.lower()]
    assert words.of_others(f"{ann}s", "bob") == []
