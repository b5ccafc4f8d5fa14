"""Summary statistics of a measurement: medians, means and percentiles of samples."""

from collections.abc import Sequence
from statistics import mean, median, quantiles
from typing import TypedDict


class Spread(TypedDict):
    """Median and 90th percentile, in the unit of the samples."""

    median: float
    p90: float


class Distribution(TypedDict):
    """Mean and percentiles, in the unit of the samples."""

    mean: float
    median: float
    p90: float
    p99: float


def spread(samples: Sequence[float]) -> Spread:
    """Summarise samples. The 90th percentile is interpolated; of one sample it is the sample."""
    tenths = quantiles(samples, n=10, method="inclusive") if len(samples) > 1 else [samples[0]]
    return {"median": round(median(samples), 3), "p90": round(tenths[-1], 3)}


def distribution(samples: Sequence[float]) -> Distribution:
    """Summarise at least one sample; percentiles are interpolated, as numpy does it."""
    cuts = quantiles(samples, n=100, method="inclusive") if len(samples) > 1 else [*samples] * 99
    return {
        "mean": round(mean(samples), 3),
        "median": round(median(samples), 3),
        "p90": round(cuts[89], 3),
        "p99": round(cuts[98], 3),
    }


def speedup(text: Sequence[float], kv: Sequence[float]) -> float:
    """Divide the median of text by the median of KV."""
    return round(median(text) / median(kv), 2)
