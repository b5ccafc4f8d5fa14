"""Run of a simulation, and its report."""

import time
from dataclasses import asdict
from typing import Any

from benchmarks.capacity.engine_capacity import engine_memory
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.model_shape import ModelShape
from benchmarks.capacity.rates import EngineRates
from benchmarks.capacity.simulation.fleet_simulation import FleetSimulation
from benchmarks.capacity.simulation.scenario import Scenario
from memory_engine.errors import SettingsError

Report = dict[str, Any]


def simulate(
    fleet: FleetDemand, shape: ModelShape, rates: EngineRates, scenario: Scenario, engines: int
) -> Report:
    """Simulate so many engines; return plain values, ready for `json.dumps`.

    Raises SettingsError if the only engine is to be lost.
    """
    if scenario.lose and engines < 2:
        raise SettingsError("With one engine none can be lost: give --engines 2, or --no-lose.")
    began = time.process_time()
    simulation = FleetSimulation(
        fleet,
        scenario,
        rates,
        engine_memory(fleet, shape, rates),
        engines=engines,
        fact_bytes=fleet.tokens * shape.token_bytes(fleet.store),
    )
    simulation.run()
    simulated = simulation.engines.values()
    alive = [engine for engine in simulated if not engine.lost]
    report = simulation.log.report(scenario)
    return report | {
        "scenario": asdict(scenario),
        "engines": engines,
        "lost_at_s": scenario.lost_at,
        "busiest": round(max(s.busy_s for s in alive) / scenario.seconds, 4),
        "encoding": {
            "busiest": round(max(s.encoding_s for s in alive) / scenario.seconds, 4),
            "most_waiting_facts": max(s.most_waiting_facts for s in simulated),
        },
        "held_users": {
            tier: sum(len(getattr(s.tiers, tier)) for s in alive)
            for tier in ("device", "host", "disk")
        },
        "took_s": round(time.process_time() - began, 1),
    }
