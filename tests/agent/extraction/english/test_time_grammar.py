"""Facts and questions name times by the same words, but where a difference is meant."""

import pytest

from agent.extraction.english.time_grammar import COARSE_IN_FACT, COARSE_IN_QUESTION, DAY


@pytest.mark.parametrize(
    "words",
    [
        "last month", "next year", "this weekend", "last summer", "in the spring",
        "three months ago", "a few weeks ago", "a couple of years ago", "in two years",
        "in May", "since June", "in 2019", "last September", "in May 2020",
    ],
)  # fmt: skip
def test_facts_and_questions_name_the_same_long_times(words: str) -> None:
    assert COARSE_IN_FACT.search(f"It was {words}.")
    assert COARSE_IN_QUESTION.search(f"Was it {words}?")


@pytest.mark.parametrize(
    ("words", "in_fact", "in_question"),
    [("2019", False, True), ("in the fall", False, True), ("in 1815", True, False)],
)
def test_they_differ_where_it_is_meant(words: str, in_fact: bool, in_question: bool) -> None:
    assert bool(COARSE_IN_FACT.search(words)) is in_fact
    assert bool(COARSE_IN_QUESTION.search(words)) is in_question


@pytest.mark.parametrize(
    "words",
    ["2026-02-28", "3 June 2025", "May 1st", "yesterday", "last night", "two days ago",
     "in three weeks", "on Friday", "earlier this morning", "the day after tomorrow"],
)  # fmt: skip
def test_a_day_or_a_week_is_no_long_time(words: str) -> None:
    assert DAY.fullmatch(words)


@pytest.mark.parametrize("words", ["may", "march", "fall", "second", "sunday roast"])
def test_a_word_alone_is_no_time(words: str) -> None:
    for pattern in (DAY, COARSE_IN_FACT, COARSE_IN_QUESTION):
        assert not pattern.search(words)
