"""One table of contractions and one of fillers, for all comparisons."""

import pytest

from agent.extraction.english.normalize import (
    FILLERS,
    REPETITION_FILLERS,
    expand_contractions,
    expand_first_person,
    normalized_words,
    restore_apostrophes,
)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("im tall", "i'm tall"),
        ("Ive a cat", "I've a cat"),
        ("I dont, it wasnt and I cant", "I don't, it wasn't and I can't"),
        ("I\u2019m tall", "I'm tall"),
        ("IM", "IM"),
        ("my font", "my font"),
    ],
)
def test_apostrophes_that_people_leave_out_are_restored(text: str, plain: str) -> None:
    assert restore_apostrophes(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("I'm, we're, you've, they'll", "I am, we are, you have, they will"),
        ("I don't and she WON'T", "I do not and she will not"),
        ("can't cannot can not", "can not can not can not"),
        ("my sister's dog", "my sister's dog"),
        ("he'd go", "he'd go"),
    ],
)
def test_contractions_with_one_meaning_are_expanded(text: str, plain: str) -> None:
    assert expand_contractions(text) == plain


def test_only_the_first_person_is_expanded_where_the_rest_is_a_value() -> None:
    said = "i'm told We've missed Don't Look Up"
    assert expand_first_person(said) == "I am told we have missed Don't Look Up"


def test_fillers_go_and_more_of_them_beside_a_fuller_statement() -> None:
    said = "Well, I'm still quite a very tall man"
    assert normalized_words(said) == ["i", "am", "still", "a", "very", "tall", "man"]
    assert normalized_words(said, REPETITION_FILLERS) == ["i", "am", "tall", "man"]
    assert FILLERS < REPETITION_FILLERS
