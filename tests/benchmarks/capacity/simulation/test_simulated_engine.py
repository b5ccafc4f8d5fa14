"""Encoding on a simulated engine: one user after the other, at the measured rate."""

import simpy

from benchmarks.capacity.simulation.lru_tiers import SimulatedTier, SimulatedTiers
from benchmarks.capacity.simulation.simulated_engine import SimulatedEngine


def simulated_engine() -> tuple[simpy.Environment, SimulatedEngine]:
    environment = simpy.Environment()
    return environment, SimulatedEngine(environment, "e", SimulatedTiers(100, 0, 0), facts_per_s=10)


def test_a_user_is_on_the_device_once_all_facts_are_encoded() -> None:
    environment, engine = simulated_engine()
    engine.encode(1, 20, 40, whole=True)
    assert engine.wants(1)
    assert engine.most_waiting_facts == 20
    environment.run(1.9)
    assert engine.tiers.use(1, 40) is SimulatedTier.NONE
    environment.run(2.1)
    assert engine.tiers.use(1, 40) is SimulatedTier.DEVICE
    assert not engine.wants(1)
    assert (engine.waiting_facts, engine.encoding_s) == (0, 2)


def test_users_are_encoded_one_after_the_other() -> None:
    environment, engine = simulated_engine()
    engine.encode(1, 20, 40, whole=True)
    engine.encode(2, 10, 40, whole=True)
    environment.run(2.5)
    assert (engine.wants(1), engine.wants(2)) == (False, True)
    environment.run(3.5)
    assert not engine.wants(2)


def test_a_new_fact_of_somebody_whose_others_are_gone_holds_nobody() -> None:
    environment, engine = simulated_engine()
    engine.encode(1, 1, 40, whole=False)
    environment.run(1)
    assert engine.tiers.use(1, 40) is SimulatedTier.NONE
    engine.tiers.add(1, 40)
    engine.encode(1, 1, 50, whole=False)
    environment.run(2)
    assert engine.tiers.device.used == 50
