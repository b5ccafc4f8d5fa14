"""Statistics over questions: means and ratios with intervals, divergence, agreement."""

import math
from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
RESAMPLES = 2000
_PERCENTILES = (2.5, 97.5)


class Estimate(TypedDict):
    """A figure with its 95 % bootstrap interval; null where there is none."""

    value: float | None
    low: float | None
    high: float | None


def mean_of(values: Sequence[float], seed: int) -> Estimate:
    """Estimate the mean over questions; the interval resamples questions."""
    resampled = np.asarray(values)[_draws(len(values), seed)].mean(axis=1)
    return _estimate(float(np.mean(values)), resampled)


def retained(
    none: Sequence[float], text: Sequence[float], arm: Sequence[float], seed: int
) -> Estimate:
    """Estimate (none - arm) / (none - text), the share that an arm keeps of what facts gain.

    The three are losses of the same questions. A ratio of means, and a paired bootstrap:
    each resample draws questions and takes all three of each. Null where facts gain nothing,
    in the sample or in a resample.
    """
    losses = np.stack([np.asarray(none), np.asarray(text), np.asarray(arm)])
    means = losses.mean(axis=1)
    if means[0] - means[1] <= 0:
        return {"value": None, "low": None, "high": None}
    value = float((means[0] - means[2]) / (means[0] - means[1]))
    resampled = losses[:, _draws(losses.shape[1], seed)].mean(axis=2)
    gains = resampled[0] - resampled[1]
    if gains.min() <= 0:
        return {"value": round(value, 4), "low": None, "high": None}
    return _estimate(value, (resampled[0] - resampled[2]) / gains)


def divergence(reference: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Compute KL(reference || other) in nats, from log probabilities of the likeliest tokens.

    Tokens that are among the likeliest of both count one by one, all others together as one:
    that never exceeds the divergence over the whole vocabulary.
    """
    shared = reference.keys() & other.keys()
    summed = sum(math.exp(reference[t]) * (reference[t] - other[t]) for t in shared)
    rest = [max(1 - sum(math.exp(each[t]) for t in shared), 1e-9) for each in (reference, other)]
    return max(0.0, summed + rest[0] * math.log(rest[0] / rest[1]))


def agreement(one: Sequence[int], other: Sequence[int]) -> float:
    """Share of places with the same token, of the places that the longer one has."""
    same = sum(a == b for a, b in zip(one, other, strict=False))
    return same / max(len(one), len(other), 1)


def _draws(count: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))


def _estimate(value: float, resampled: Values) -> Estimate:
    low, high = np.percentile(resampled, _PERCENTILES).tolist()
    return {"value": round(value, 4), "low": round(low, 4), "high": round(high, 4)}
