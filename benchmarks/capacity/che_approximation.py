"""Hit rate of an LRU cache by Che's approximation (Che, Tung, Wang 2002).

A user who talks at rate p is held if they talked within the characteristic time T, the same
for all: with probability 1 - exp(-p T), and T is such that these add up to the capacity.
"""

from functools import lru_cache

import numpy as np

_BUCKETS = 1024
_HALVINGS = 50

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


@lru_cache(maxsize=1024)
def hit_rate(users: int, zipf: float, capacity: float) -> float:
    """Share of visits that find their user held, for users whose rates follow a Zipf law.

    capacity: users that are held. Ranks are taken together in buckets that grow with them.
    """
    if capacity >= users:
        return 1.0
    count, rate = _buckets(users, zipf)

    def held(time: float) -> float:
        return float((count * -np.expm1(-rate * time)).sum())

    low, high = 0.0, 1.0
    while held(high) < capacity:
        high *= 2
    for _ in range(_HALVINGS):
        time = (low + high) / 2
        low, high = (time, high) if held(time) < capacity else (low, time)
    return float((count * rate * -np.expm1(-rate * high)).sum())


@lru_cache(maxsize=8)
def _buckets(users: int, zipf: float) -> tuple[Floats, Floats]:
    """Users of every bucket, and the share of all visits of each of them, both [buckets]."""
    edges = np.unique(np.geomspace(1, users + 1, _BUCKETS).astype(np.int64))
    count = np.diff(edges).astype(np.float64)
    rate = np.sqrt(edges[:-1] * (edges[1:] - 1.0)) ** -zipf
    return count, rate / (rate * count).sum()
