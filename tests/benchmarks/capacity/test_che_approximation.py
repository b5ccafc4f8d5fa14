"""Che's approximation against an LRU cache, and its bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.capacity.che_approximation import hit_rate
from benchmarks.capacity.simulation.lru_tiers import LruTier


@pytest.mark.parametrize(("zipf", "capacity"), [(0.0, 500), (0.6, 200), (0.6, 2000), (1.0, 500)])
def test_a_cache_hits_as_often_as_ches_approximation_says(zipf: float, capacity: int) -> None:
    users, visits = 5000, 120_000
    random = np.random.default_rng(0)
    weights = np.arange(1, users + 1) ** -zipf
    drawn = random.choice(users, visits, p=weights / weights.sum()).tolist()
    lru, hits = LruTier(capacity), 0
    for number, user in enumerate(drawn):
        hits += user in lru and number >= visits // 4
        lru.put(user, 1)
    assert hits / (visits * 3 / 4) == pytest.approx(hit_rate(users, zipf, capacity), abs=0.01)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 10**6), st.floats(0, 1.2), st.floats(0, 1))
def test_more_room_never_hits_less_and_no_less_than_its_share(
    users: int, zipf: float, share: float
) -> None:
    rate = hit_rate(users, zipf, share * users)
    assert share - 1e-6 <= rate <= 1
    assert hit_rate(users, zipf, share * users / 2) <= rate + 1e-9
