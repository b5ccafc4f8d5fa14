"""Relevance: what each signal adds, and how much."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_engine.retrieval.ranking import (
    NEIGHBOUR,
    RECENCY,
    SOURCE,
    TIME,
    WORDS,
    relevance,
)
from memory_engine.types import Period

MAY = Period(date(2026, 5, 1), date(2026, 5, 31))


def array(*values: float) -> np.ndarray:
    return np.asarray(values, dtype=np.float32)


def days(*dates: date | None) -> np.ndarray:
    return array(*(np.nan if each is None else each.toordinal() for each in dates))


def test_the_score_is_the_weighted_sum_with_the_better_neighbour() -> None:
    scores = relevance(array(0.5, 0, 0.1), array(0.2, 0, 0), array(4, 0, 1), days(*[None] * 3), ())
    first = 0.5 + SOURCE * 0.2 + WORDS
    middle = RECENCY / 2
    last = 0.1 + WORDS / 4 + RECENCY
    assert scores.tolist() == pytest.approx(
        [first + NEIGHBOUR * middle, middle + NEIGHBOUR * first, last + NEIGHBOUR * middle]
    )


def test_of_facts_that_answer_equally_well_the_newest_comes_first() -> None:
    same = array(0.4, 0.4, 0.4, 0.4)
    scores = relevance(same, same, same, days(*[None] * 4), ())
    assert scores[2] > scores[1]
    assert scores[2] - scores[1] < 0.01


def test_a_fact_of_the_time_asked_for_gains_the_full_weight_and_one_a_week_off_a_third() -> None:
    dates = days(date(2026, 5, 31), None, None, date(2026, 6, 7), None, None, date(2024, 5, 31))
    zero = np.zeros(7, dtype=np.float32)
    gained = relevance(zero, zero, zero, dates, [MAY]) - relevance(zero, zero, zero, dates, ())
    assert gained[0] == pytest.approx(TIME, abs=1e-6)
    assert gained[3] == pytest.approx(TIME / np.e, abs=1e-6)
    assert gained[6] == pytest.approx(0, abs=1e-6)
    assert gained[1] == pytest.approx(NEIGHBOUR * TIME, abs=NEIGHBOUR * RECENCY)


def test_a_date_counts_for_the_nearest_of_several_periods() -> None:
    dates, zero = days(date(2026, 5, 3)), array(0)
    june = Period(date(2026, 6, 1), date(2026, 6, 30))
    both = relevance(zero, zero, zero, dates, [june, MAY])
    assert both.tolist() == pytest.approx([TIME])


@given(
    st.lists(st.tuples(*[st.floats(-1, 1, width=32)] * 2, st.floats(0, 50, width=32)), min_size=1)
)
def test_scores_are_finite_and_bounded_by_the_weights(rows: list[tuple[float, ...]]) -> None:
    text, source, words = (array(*column) for column in zip(*rows, strict=True))
    scores = relevance(text, source, words, days(*[date(2026, 5, 1)] * len(rows)), [MAY])
    most = (1 + SOURCE + WORDS + TIME + RECENCY) * (1 + NEIGHBOUR)
    assert scores.dtype == np.float32
    assert np.abs(scores).max() <= most + 1e-5
