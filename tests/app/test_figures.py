"""Medians, means and percentiles."""

import numpy as np

from app.figures import distribution, speedup, spread


def test_spread_and_speedup_come_from_medians() -> None:
    assert spread([1.0, 2.0, 10.0]) == {"median": 2.0, "p90": 8.4}
    assert spread([3.0]) == {"median": 3.0, "p90": 3.0}
    assert speedup([10.0, 20.0, 900.0], [2.0, 4.0, 1.0]) == 10.0


def test_percentiles_are_those_of_numpy() -> None:
    samples = [float(n * n % 83) for n in range(1, 61)]
    found = distribution(samples)
    assert found["mean"] == round(float(np.mean(samples)), 3)
    for name, percent in (("median", 50), ("p90", 90), ("p99", 99)):
        assert found[name] == round(float(np.percentile(samples, percent)), 3)  # type: ignore[literal-required]


def test_one_sample_is_its_own_distribution() -> None:
    assert set(distribution([4.0]).values()) == {4.0}
