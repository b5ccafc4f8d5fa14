"""The tiers of a simulated engine: order of eviction, and promotion."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.capacity.simulation.lru_tiers import LruTier, SimulatedTier, SimulatedTiers


def test_the_least_recently_used_goes_first() -> None:
    lru = LruTier(30)
    for user in (1, 2, 3):
        assert lru.put(user, 10) == []
    lru.touch(1)
    assert lru.put(4, 15) == [(2, 10), (3, 10)]
    assert (1 in lru, 4 in lru, len(lru), lru.used) == (True, True, 2, 25)


def test_who_has_more_now_takes_more() -> None:
    lru = LruTier(30)
    lru.put(1, 10)
    assert lru.put(1, 25) == []
    assert lru.used == 25


def test_who_is_larger_than_the_tier_is_not_held_and_drives_nobody_out() -> None:
    lru = LruTier(30)
    lru.put(1, 10)
    assert lru.put(2, 31) == []
    assert (2 in lru, 1 in lru) == (False, True)


def test_who_leaves_the_device_is_found_in_host_memory_and_keeps_the_place_there() -> None:
    tiers = SimulatedTiers(device=20, host=20, disk=0)
    for user in (1, 2, 3):
        tiers.add(user, 10)
    assert tiers.use(1, 10) is SimulatedTier.HOST
    assert 1 in tiers.host
    assert tiers.use(1, 10) is SimulatedTier.DEVICE
    assert tiers.use(9, 10) is SimulatedTier.NONE


def test_what_host_memory_evicts_is_found_on_disk_if_there_is_one() -> None:
    tiers = SimulatedTiers(device=10, host=10, disk=100)
    for user in (1, 2, 3):
        tiers.add(user, 10)
    assert tiers.use(1, 10) is SimulatedTier.DISK
    assert tiers.use(1, 10) is SimulatedTier.DEVICE
    without = SimulatedTiers(device=10, host=10, disk=0)
    for user in (1, 2, 3):
        without.add(user, 10)
    assert without.use(1, 10) is SimulatedTier.NONE


def test_disk_stands_behind_the_device_where_there_is_no_host_memory() -> None:
    tiers = SimulatedTiers(device=10, host=0, disk=100)
    tiers.add(1, 10)
    tiers.add(2, 10)
    assert tiers.use(1, 10) is SimulatedTier.DISK


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 50),
    st.integers(0, 50),
    st.integers(0, 50),
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), max_size=60),
)
def test_no_tier_ever_holds_more_than_it_has_room_for(
    device: int, host: int, disk: int, visits: list[tuple[int, int]]
) -> None:
    tiers = SimulatedTiers(device, host, disk)
    for user, size in visits:
        if tiers.use(user, size) is SimulatedTier.NONE:
            tiers.add(user, size)
        for tier in (tiers.device, tiers.host, tiers.disk):
            assert 0 <= tier.used <= tier.capacity
        # Whoever fits is at hand for the next message.
        assert tiers.holds(user) or size > device
