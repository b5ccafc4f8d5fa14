"""Statistics of the evaluation against values worked out by hand, and their invariants."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.quality.intervals import agreement, divergence, mean_of, retained

PROBABILITIES = st.lists(st.floats(0.01, 1), min_size=2, max_size=6)


def test_retained_is_a_ratio_of_means_not_a_mean_of_ratios() -> None:
    kept = retained([4.0, 2.0], [1.0, 1.0], [1.0, 2.0], seed=0)
    assert kept["value"] == 0.75  # (3 + 0) / (3 + 1)


def test_an_arm_equal_to_text_retains_all_in_every_resample() -> None:
    kept = retained([3.0, 5.0, 4.0], [1.0, 2.0, 3.5], [1.0, 2.0, 3.5], seed=0)
    assert kept == {"value": 1.0, "low": 1.0, "high": 1.0}


def test_the_bootstrap_is_paired() -> None:
    """Questions differ a hundredfold, but each keeps 0.9: a resample of pairs sees no spread."""
    none = [float(n) for n in range(10, 1000, 10)]
    text = [0.0] * len(none)
    kept = retained(none, text, [0.1 * each for each in none], seed=0)
    assert kept["value"] == pytest.approx(0.9)
    assert kept["low"] == kept["high"] == 0.9


def test_where_facts_gain_nothing_nothing_is_retained() -> None:
    assert retained([1.0, 1.0], [1.0, 2.0], [1.0, 1.0], seed=0)["value"] is None
    # They gain something on the whole, but not in every resample.
    kept = retained([1.0, 9.0], [2.0, 1.0], [2.0, 1.0], seed=0)
    assert kept == {"value": 1.0, "low": None, "high": None}


def test_the_interval_of_a_mean_is_that_of_its_standard_error() -> None:
    values = [0.0, 1.0] * 200
    found = mean_of(values, seed=1)
    assert found["value"] == 0.5
    error = 1.96 * 0.5 / math.sqrt(400)
    assert found["low"] == pytest.approx(0.5 - error, abs=0.01)
    assert found["high"] == pytest.approx(0.5 + error, abs=0.01)


def test_divergence_of_two_known_distributions() -> None:
    reference = {1: math.log(0.5), 2: math.log(0.5)}
    other = {1: math.log(0.25), 2: math.log(0.75)}
    expected = 0.5 * math.log(2) + 0.5 * math.log(0.5 / 0.75)
    assert divergence(reference, other) == pytest.approx(expected, abs=1e-6)


def test_tokens_that_one_side_lacks_are_counted_as_one() -> None:
    reference = {1: math.log(0.5), 2: math.log(0.3)}
    other = {1: math.log(0.5), 3: math.log(0.4)}
    assert divergence(reference, other) == pytest.approx(0.0, abs=1e-12)


@given(PROBABILITIES, PROBABILITIES)
def test_what_is_known_of_a_divergence_never_exceeds_it(one: list[float], two: list[float]) -> None:
    count = min(len(one), len(two))
    p, q = ([v / sum(each[:count]) for v in each[:count]] for each in (one, two))
    whole = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    likeliest = sorted(range(count), key=p.__getitem__, reverse=True)[:2]
    known = divergence(
        {t: math.log(p[t]) for t in likeliest}, {t: math.log(q[t]) for t in range(count)}
    )
    assert 0 <= known <= whole + 1e-6


def test_agreement_counts_places_and_a_reply_that_ends_early_lacks_some() -> None:
    assert agreement([1, 2, 3, 4], [1, 9, 3, 4]) == 0.75
    assert agreement([1, 2], [1, 2, 3, 4]) == 0.5
    assert agreement([2, 1], [1, 2]) == 0.0
    assert agreement([], []) == 0.0
