"""`inferscale plan`: how many engines, how much memory, how long to wait. Loads no model."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from app.settings import Settings
from inferscale.command import AsJson, run
from inferscale.measure.plan_tables import as_text, simulated_as_text
from inferscale.output import note, say, say_json

if TYPE_CHECKING:
    from benchmarks.capacity.fleet_demand import FleetDemand
    from benchmarks.capacity.model_shape import ModelShape
    from benchmarks.capacity.rates import Rates

    Asked = tuple[FleetDemand, ModelShape, Rates]

_OF_THE_SCENARIO = {"hours", "warm_hours", "mode", "lose", "seed"}
_NOT_OF_THE_FLEET = {"model", "report", "simulate", "as_json"} | _OF_THE_SCENARIO

Number = int | None
Real = float | None


def plan(
    context: typer.Context,
    model: Annotated[str, Option(help="A folder with a config.json, llama-8b or llama-70b.")],
    users: Annotated[Number, Option(help="All users. [1000000]")] = None,
    facts: Annotated[Number, Option(help="Facts of a user. [50]")] = None,
    tokens: Annotated[Number, Option(help="Tokens of a fact. [40]")] = None,
    k: Annotated[Number, Option(help="Facts that a reply recalls at most. [50]")] = None,
    messages: Annotated[Real, Option(help="Messages of a user and day. [5]")] = None,
    conversation: Annotated[Real, Option(help="Messages of a conversation. [5]")] = None,
    pause: Annotated[Real, Option(help="Seconds between two of them. [60]")] = None,
    zipf: Annotated[Real, Option(help="Exponent of users' activity, 0: equal. [0.6]")] = None,
    learnt: Annotated[Real, Option(help="New facts a message. [0.2]")] = None,
    reply_tokens: Annotated[Number, Option(help="Tokens of a reply. [128]")] = None,
    engines: Annotated[Number, Option(help="Engines. [as many as are needed]")] = None,
    tensor_parallel: Annotated[Number, Option(help="GPUs of an engine. [1]")] = None,
    utilization: Annotated[Real, Option(help="How busy an engine may be. [0.7]")] = None,
    store: Annotated[str | None, Option(help="How KV is stored: auto or fp8. [auto]")] = None,
    arena_gib: Annotated[Real, Option(help="An engine's arena. [what the device has]")] = None,
    host_gib: Annotated[Real, Option(help="Host memory behind it. [half of all]")] = None,
    disk_gib: Annotated[Real, Option(help="Disk behind that, of an engine. [0]")] = None,
    disk_gb_per_s: Annotated[Real, Option(help="How fast it is read. [2]")] = None,
    report: Annotated[
        Path | None, Option(help="Rates: of `inferscale bench --json`. [8B on an H200]")
    ] = None,
    simulate: Annotated[
        bool, Option("--simulate", help="Then simulate it: users talk, an engine is lost.")
    ] = False,
    hours: Annotated[Real, Option(help="Simulation: how long. [2]")] = None,
    warm_hours: Annotated[Real, Option(help="Hours before that fill the caches. [24]")] = None,
    mode: Annotated[str | None, Option(help="kv, or text without memory of KV. [kv]")] = None,
    lose: Annotated[
        bool | None, Option("--lose/--no-lose", help="Lose an engine at half time. [yes]")
    ] = None,
    seed: Annotated[Number, Option(help="Of all that is random. [0]")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute bytes, engines, encoding and time to the first token for a fleet; simulate it."""

    async def work(settings: Settings) -> None:
        from benchmarks.capacity.capacity_report import plan as planned

        asked = _asked(model, report, context.params)
        answer = planned(*asked)
        show = note if as_json else say
        show(as_text(answer))
        if simulate:
            answer["simulation"] = await _simulated(asked, context.params, answer["engines"])
            show("\n" + simulated_as_text(answer["simulation"]))
        if as_json:
            say_json(answer)

    run(work)


async def _simulated(asked: "Asked", options: Mapping[str, Any], engines: int) -> dict[str, Any]:
    from benchmarks.capacity.simulation.scenario import Scenario
    from benchmarks.capacity.simulation.simulate import simulate

    given = {n: v for n, v in options.items() if n in _OF_THE_SCENARIO and v is not None}
    return await asyncio.to_thread(simulate, *asked, Scenario(**given), engines)


def _asked(model: str, report: Path | None, options: Mapping[str, Any]) -> "Asked":
    from benchmarks.capacity.fleet_demand import FleetDemand
    from benchmarks.capacity.model_shape import shape_of
    from benchmarks.capacity.rates import read_rates, shipped_rates
    from benchmarks.capacity.scaling import rates_for

    given = {n: v for n, v in options.items() if n not in _NOT_OF_THE_FLEET and v is not None}
    fleet, shape = FleetDemand(**given), shape_of(model)
    rates = read_rates(report) if report else shipped_rates()
    return fleet, shape, rates_for(rates, shape, fleet.tensor_parallel)
