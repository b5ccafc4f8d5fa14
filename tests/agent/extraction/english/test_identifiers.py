"""Numbers and names keep statements apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.extraction.english.identifiers import identifiers, may_repeat, may_replace, may_update

APART = [
    ("I rent flat 12.", "I rent flat 21."),
    ("I rent flat twelve.", "I rent flat eleven."),
    ("My flight is LX318.", "My flight is LX381."),
    ("Call me at 079 555 12 34.", "Call me at 079 555 12 43."),
    ("My friend Ann plays chess.", "My friend Bob plays chess."),
    ("My room is 4B.", "My room is 4C."),
]


@pytest.mark.parametrize(("known", "new"), APART)
def test_near_identical_identifiers_are_neither_merged_nor_replaced(known: str, new: str) -> None:
    assert not may_repeat(new, known)
    assert not may_update(new, known)
    assert not may_replace(new, known)


@pytest.mark.parametrize(("known", "new"), APART)
def test_a_change_that_the_user_tells_replaces(known: str, new: str) -> None:
    assert may_replace(f"{new.rstrip('.')} now.", known)


def test_numbers_and_names_are_found_and_function_words_are_not() -> None:
    found = identifiers("My sister Ann has two cats and lives at Hill Road 7b since I moved.")
    assert found == {"ann", "two", "hill", "road", "7b"}


def test_a_vaguer_statement_repeats_and_a_fuller_one_updates() -> None:
    vague, full = "I have a dog.", "I have a dog, and it is called Biscuit."
    assert may_repeat(vague, full)
    assert not may_repeat(full, vague)
    assert may_update(full, vague)
    assert not may_update(vague, full)


def test_a_negation_is_never_merged_away() -> None:
    for may in (may_repeat, may_update):
        assert not may("I don't eat meat.", "I eat meat.")
        assert not may("I eat meat.", "I don't eat meat.")


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_texts_with_different_numbers_are_never_merged(one: int, two: int) -> None:
    texts = f"My number is {one}.", f"My number is {two}."
    assert may_repeat(*texts) is (one == two)
    assert may_update(*texts) is (one == two)
