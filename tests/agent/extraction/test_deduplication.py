"""Near-duplicates: the fuller statement stays, and nothing that says something else goes."""

import pytest
from hypothesis import given
from hypothesis.strategies import lists, sampled_from

from agent.extraction.candidate import Candidate
from agent.extraction.deduplication import deduplicated
from agent.extraction.english.tokens import content_words


def of(*texts: str) -> list[Candidate]:
    return [Candidate(text, text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("I live in Bern.", "I live in Bern, Switzerland."), ["I live in Bern, Switzerland."]),
        (("I live in Bern, Switzerland.", "I live in Bern."), ["I live in Bern, Switzerland."]),
        (("I'm a nurse.", "I am really a nurse.", "I\u2019m a nurse"), ["I'm a nurse."]),
        (("I can't swim.", "I cannot swim.", "I can not swim."), ["I can't swim."]),
    ],
)
def test_what_says_no_more_is_dropped(texts: tuple[str, ...], left: list[str]) -> None:
    """hindsight#1730."""
    assert [c.text for c in deduplicated(of(*texts))] == left


@pytest.mark.parametrize(
    "texts",
    [
        ("I like tea.", "I don't like tea."),
        ("I smoke.", "I never smoke."),
        ("I have a cat.", "I had a cat."),
        ("I moved from Bern to Oslo.", "I moved from Oslo to Bern."),
        ("I have two dogs.", "I have three dogs."),
    ],
)
def test_what_says_something_else_stays(texts: tuple[str, ...]) -> None:
    assert [c.text for c in deduplicated(of(*texts))] == list(texts)


def test_a_value_of_an_attribute_is_not_lost_to_a_statement_without_one() -> None:
    tea = Candidate("I love tea.", "I love tea.", "i feel about tea", "tea")
    both = Candidate("I love tea and coffee.", "I love tea and coffee.")
    assert deduplicated([tea, both]) == [tea, both]
    assert deduplicated([both, tea]) == [both, tea]


def test_the_same_words_about_two_people_are_two_facts() -> None:
    anna, eva = (Candidate("She sings.", "She sings.", subject=name) for name in ("Anna", "Eva"))
    assert deduplicated([anna, eva]) == [anna, eva]


WORDS = ("I", "my", "dog", "cat", "not", "have", "had", "two", "Bern", "live", "in")


@given(lists(sampled_from(WORDS), max_size=30))
def test_no_content_word_is_lost(said: list[str]) -> None:
    candidates = of(*(" ".join(said[n : n + 4]) for n in range(0, len(said), 4)))
    left = deduplicated(candidates)
    assert set(left) <= set(candidates)
    said_words, left_words = (
        frozenset(w for c in group for w in content_words(c.text)) for group in (candidates, left)
    )
    assert said_words == left_words
