"""Encoding on a simulated engine: one user after the other, at the measured rate."""

import simpy

from benchmarks.capacity.simulation.lru_tiers import Tier, Tiers
from benchmarks.capacity.simulation.simulated_engine import Station


def a_station() -> tuple[simpy.Environment, Station]:
    environment = simpy.Environment()
    return environment, Station(environment, "e", Tiers(100, 0, 0), facts_per_s=10)


def test_a_user_is_on_the_device_once_all_facts_are_encoded() -> None:
    environment, station = a_station()
    station.encode(1, 20, 40, whole=True)
    assert station.wants(1)
    assert station.most_waiting_facts == 20
    environment.run(1.9)
    assert station.tiers.use(1, 40) is Tier.NONE
    environment.run(2.1)
    assert station.tiers.use(1, 40) is Tier.DEVICE
    assert not station.wants(1)
    assert (station.waiting_facts, station.encoding_s) == (0, 2)


def test_users_are_encoded_one_after_the_other() -> None:
    environment, station = a_station()
    station.encode(1, 20, 40, whole=True)
    station.encode(2, 10, 40, whole=True)
    environment.run(2.5)
    assert (station.wants(1), station.wants(2)) == (False, True)
    environment.run(3.5)
    assert not station.wants(2)


def test_a_new_fact_of_somebody_whose_others_are_gone_holds_nobody() -> None:
    environment, station = a_station()
    station.encode(1, 1, 40, whole=False)
    environment.run(1)
    assert station.tiers.use(1, 40) is Tier.NONE
    station.tiers.add(1, 40)
    station.encode(1, 1, 50, whole=False)
    environment.run(2)
    assert station.tiers.device.used == 50
