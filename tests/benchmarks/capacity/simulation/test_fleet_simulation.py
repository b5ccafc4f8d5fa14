"""The simulation against queueing theory and the capacity, and the loss of an engine."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.capacity.engine_capacity import EngineCapacity, engine_memory
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.model_shape import shape_of
from benchmarks.capacity.simulation.fleet_simulation import FleetSimulation
from benchmarks.capacity.simulation.scenario import Scenario
from benchmarks.capacity.simulation.simulate import simulate
from memory_engine.errors import SettingsError
from tests.benchmarks.capacity.report_builder import the_rates

SHAPE = shape_of("llama-8b")
A_TOKEN = 131_072
# Each user has one fact and each conversation one message: Poisson arrivals of equal work.
ALIKE = FleetDemand(facts=1, tokens=500, k=1, conversation=1, learnt=0, arena_gib=10, host_gib=0)
CALM = Scenario(hours=1.5, warm_hours=0, mode="text", lose=False)
# 10,000 users, 5.8 messages a second, two engines that hold 400 users each on the device.
FLEET = FleetDemand(
    users=10_000, messages=50, facts=20, tokens=10, arena_gib=10, host_gib=10, learnt=0.1
)


def simulated(fleet: FleetDemand, scenario: Scenario, engines: int) -> dict[str, Any]:
    return simulate(fleet, SHAPE, the_rates(), scenario, engines)


def users_for(fleet: FleetDemand, utilization: float, mean_busy_s: float) -> FleetDemand:
    """The fleet with so many users that one engine is so busy."""
    return replace(fleet, users=round(utilization / mean_busy_s * 86_400 / fleet.messages))


@pytest.mark.parametrize("utilization", [0.3, 0.7])
def test_equal_work_waits_as_long_as_in_an_m_d_1_queue(utilization: float) -> None:
    busy = the_rates().busy_ms("text", 500, 128) / 1000
    report = simulated(users_for(ALIKE, utilization, busy), CALM, 1)
    wait_ms = 1000 * busy * utilization / (2 * (1 - utilization))
    assert report["spans"]["all"]["wait_ms"]["mean"] == pytest.approx(wait_ms, rel=0.06)
    assert report["busiest"] == pytest.approx(utilization, rel=0.02)
    alone = the_rates().text.at(500)
    first = report["spans"]["all"]["ttft_ms"]["mean"]
    assert first - report["spans"]["all"]["wait_ms"]["mean"] == pytest.approx(alone, abs=0.01)


def test_unequal_work_waits_as_long_as_pollaczek_and_khinchine_say() -> None:
    fleet = replace(ALIKE, facts=20, tokens=25, k=100)
    # Facts are geometric, and no more than k are recalled.
    counts = range(1, 600)
    likely = [(1 - 1 / 20) ** (n - 1) / 20 for n in counts]
    times = [the_rates().busy_ms("text", min(n, 100) * 25, 128) / 1000 for n in counts]
    mean = sum(p * s for p, s in zip(likely, times, strict=True))
    square = sum(p * s * s for p, s in zip(likely, times, strict=True))
    fleet = users_for(fleet, 0.6, mean)
    wait_ms = 1000 * fleet.messages_per_s * square / (2 * (1 - 0.6))
    report = simulated(fleet, CALM, 1)
    assert report["spans"]["all"]["wait_ms"]["mean"] == pytest.approx(wait_ms, rel=0.06)


def test_kv_is_found_as_often_as_the_plan_says_and_engines_are_as_busy() -> None:
    report = simulated(FLEET, Scenario(hours=1, warm_hours=3, lose=False), 2)
    rates = the_rates()
    capacity = EngineCapacity(FLEET, rates, engine_memory(FLEET, SHAPE, rates), 10 * A_TOKEN)
    span = report["spans"]["all"]
    assert span["found"]["none"] == pytest.approx(capacity.as_text(2), abs=0.02)
    assert report["busiest"] == pytest.approx(capacity.busy("kv", 2), rel=0.1)
    assert report["encoding"]["busiest"] == pytest.approx(capacity.encoding(2), rel=0.25)


def test_text_mode_finds_and_encodes_nothing() -> None:
    report = simulated(FLEET, Scenario(hours=0.1, mode="text", lose=False), 2)
    assert report["spans"]["all"]["found"]["none"] == 1
    assert report["encoding"] == {"busiest": 0, "most_waiting_facts": 0}
    assert sum(report["held_users"].values()) == 0


def test_the_same_seed_is_the_same_run_and_another_is_not() -> None:
    runs = [simulated(FLEET, Scenario(hours=0.1, warm_hours=1, seed=seed), 2) for seed in (1, 1, 2)]
    for run in runs:
        del run["took_s"], run["scenario"]
    assert runs[0] == runs[1] != runs[2]


def test_who_was_on_the_lost_engine_is_served_as_text_and_comes_back() -> None:
    report = simulated(FLEET, Scenario(hours=1, warm_hours=3), 3)
    moved = report["moved"]
    assert moved["lowest"] < moved["before"] - 0.2
    assert 0 < moved["back_after_s"] <= 600
    assert report["spans"]["during"]["found"]["none"] > report["spans"]["before"]["found"]["none"]


def test_no_message_is_served_by_the_lost_engine_and_none_is_lost() -> None:
    busy = replace(FLEET, users=60_000, conversation=1)
    scenario = Scenario(hours=0.1, warm_hours=0, mode="text")
    rates = the_rates()
    fates = []
    for lose in (False, True):
        simulation = FleetSimulation(
            busy,
            replace(scenario, lose=lose),
            rates,
            engine_memory(busy, SHAPE, rates),
            engines=2,
            fact_bytes=10 * A_TOKEN,
        )
        simulation.run()
        fates.append(simulation)
    whole, broken = fates
    assert broken.engines["engine-0"].busy_s < whole.engines["engine-0"].busy_s * 0.6
    # Those that waited for the lost engine are asked again; no more than the one that it
    # worked on can have begun.
    assert broken.log.retried > 0
    assert broken.log.broken <= 1


def test_the_only_engine_cannot_be_lost() -> None:
    with pytest.raises(SettingsError, match="--no-lose"):
        simulated(FLEET, Scenario(), 1)


@pytest.mark.parametrize("wrong", [{"hours": 0}, {"warm_hours": -1}, {"mode": "both"}])
def test_scenarios_that_cannot_work_name_their_option(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=f"--{next(iter(wrong)).replace('_', '-')}"):
        Scenario(**wrong)
