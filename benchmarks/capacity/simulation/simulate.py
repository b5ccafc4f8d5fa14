"""A plan, tried out: the simulation of the fleet that was planned, and its report."""

import time
from dataclasses import asdict
from typing import Any

from benchmarks.capacity.engine_capacity import memory_of
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.model_shape import ModelShape
from benchmarks.capacity.rates import Rates
from benchmarks.capacity.simulation.fleet_simulation import Simulation
from benchmarks.capacity.simulation.scenario import Scenario
from memory_engine.errors import SettingsError

Report = dict[str, Any]


def simulate(
    fleet: FleetDemand, shape: ModelShape, rates: Rates, scenario: Scenario, engines: int
) -> Report:
    """Simulate so many engines; plain values, ready for `json.dumps`.

    Raises SettingsError if the only engine is to be lost.
    """
    if scenario.lose and engines < 2:
        raise SettingsError("With one engine none can be lost: give --engines 2, or --no-lose.")
    began = time.process_time()
    simulation = Simulation(
        fleet,
        scenario,
        rates,
        memory_of(fleet, shape, rates),
        engines=engines,
        a_fact=fleet.tokens * shape.token_bytes(fleet.store),
    )
    simulation.run()
    stations = simulation.stations.values()
    alive = [station for station in stations if not station.lost]
    report = simulation.journal.report(scenario)
    return report | {
        "scenario": asdict(scenario),
        "engines": engines,
        "lost_at_s": scenario.lost_at,
        "busiest": round(max(s.busy_s for s in alive) / scenario.seconds, 4),
        "encoding": {
            "busiest": round(max(s.encoding_s for s in alive) / scenario.seconds, 4),
            "most_waiting_facts": max(s.most_waiting_facts for s in stations),
        },
        "held_users": {
            tier: sum(len(getattr(s.tiers, tier)) for s in alive)
            for tier in ("device", "host", "disk")
        },
        "took_s": round(time.process_time() - began, 1),
    }
