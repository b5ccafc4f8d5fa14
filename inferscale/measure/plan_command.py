"""Command `inferscale plan`: works out the capacity that a fleet needs. Loads no model."""

import asyncio
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.settings import Settings
from inferscale.command import AsJson, run
from inferscale.measure import plan_options as options
from inferscale.measure.plan_tables import as_text, simulated_as_text
from inferscale.output import note, say, say_json

if TYPE_CHECKING:
    from benchmarks.capacity.fleet_demand import FleetDemand
    from benchmarks.capacity.model_shape import ModelShape
    from benchmarks.capacity.rates import EngineRates

    Demand = tuple[FleetDemand, ModelShape, EngineRates]


def plan(
    context: typer.Context,
    model: options.Model,
    users: options.Users = None,
    facts: options.Facts = None,
    tokens: options.Tokens = None,
    k: options.K = None,
    messages: options.Messages = None,
    conversation: options.ConversationLength = None,
    pause: options.Pause = None,
    zipf: options.Zipf = None,
    learnt: options.Learnt = None,
    reply_tokens: options.ReplyTokens = None,
    engines: options.Engines = None,
    tensor_parallel: options.TensorParallel = None,
    utilization: options.Utilization = None,
    store: options.Store = None,
    arena_gib: options.ArenaGib = None,
    host_gib: options.HostGib = None,
    disk_gib: options.DiskGib = None,
    disk_gb_per_s: options.DiskSpeed = None,
    report: options.RatesReport = None,
    simulate: options.Simulate = False,
    hours: options.Hours = None,
    warm_hours: options.WarmHours = None,
    mode: options.ModeName = None,
    lose: options.Lose = None,
    seed: options.Seed = None,
    as_json: AsJson = False,
) -> None:
    """Compute bytes, engines, encoding and time to the first token for a fleet; simulate it."""
    run(partial(_answer, context.params))


async def _answer(given: Mapping[str, Any], settings: Settings) -> None:
    from benchmarks.capacity.capacity_report import capacity_report

    demand = _demand(given)
    answer = capacity_report(*demand)
    show = note if given["as_json"] else say
    show(as_text(answer))
    if given["simulate"]:
        answer["simulation"] = await _simulated(demand, given, answer["engines"])
        show("\n" + simulated_as_text(answer["simulation"]))
    if given["as_json"]:
        say_json(answer)


def _demand(given: Mapping[str, Any]) -> "Demand":
    from benchmarks.capacity.fleet_demand import FleetDemand
    from benchmarks.capacity.model_shape import shape_of
    from benchmarks.capacity.rates import read_rates, shipped_rates
    from benchmarks.capacity.scaling import rates_for

    fleet, shape = FleetDemand(**_of(FleetDemand, given)), shape_of(given["model"])
    report = given["report"]
    rates = read_rates(Path(report)) if report else shipped_rates()
    return fleet, shape, rates_for(rates, shape, fleet.tensor_parallel)


async def _simulated(demand: "Demand", given: Mapping[str, Any], engines: int) -> dict[str, Any]:
    from benchmarks.capacity.simulation.scenario import Scenario
    from benchmarks.capacity.simulation.simulate import simulate

    return await asyncio.to_thread(simulate, *demand, Scenario(**_of(Scenario, given)), engines)


def _of(made: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the options that are fields of the dataclass `made`, without those left out (None)."""
    names = (field.name for field in fields(made))
    return {name: given[name] for name in names if given.get(name) is not None}
