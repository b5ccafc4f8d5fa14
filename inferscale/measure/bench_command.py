"""Command `inferscale bench`: time, bytes and requests a second of KV injection."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from app.settings import Settings
from inferscale.command import AsJson, run
from inferscale.measure.bench_tables import as_tables
from inferscale.output import note, say, say_json
from memory_engine.errors import EngineError, SettingsError

if TYPE_CHECKING:
    from benchmarks.speed.workload import Workload

# Options whose value is a list of numbers, and what the plan calls them.
_LISTS = {"k": "ks"} | {
    name: name for name in ("fact_lengths", "concurrency", "output_tokens", "encode_in_flight")
}
_NOT_OF_THE_PLAN = {"full", "encode", "bandwidth", "dummy_model", "as_json"}

Number = int | None
Numbers = str | None
Switch = bool


def bench(
    context: typer.Context,
    k: Annotated[Numbers, Option(help="Numbers of facts, with commas. [0,10,50,100]")] = None,
    fact_tokens: Annotated[Number, Option(help="Tokens of every fact. [24]")] = None,
    repeats: Annotated[Number, Option(help="Measured turns of every arm. [5]")] = None,
    full: Annotated[Switch, Option("--full", help="All, in sizes that suit this machine.")] = False,
    host_mib: Annotated[Number, Option(help="KV from host memory of this size. [0: none]")] = None,
    fact_lengths: Annotated[Numbers, Option(help="Tokens a fact to sweep over. [none]")] = None,
    concurrency: Annotated[Numbers, Option(help="Load: requests in flight. [none]")] = None,
    requests: Annotated[Number, Option(help="Load: most requests of a batch. [128]")] = None,
    output_tokens: Annotated[Numbers, Option(help="Load: lengths of the replies. [32]")] = None,
    load_k: Annotated[Number, Option(help="Facts under load and in --fact-lengths. [50]")] = None,
    encode: Annotated[
        Switch, Option("--encode", help="Rate of encoding, and what a chat notices of it.")
    ] = False,
    encode_facts: Annotated[Number, Option(help="The same with so many facts. [1024]")] = None,
    encode_run: Annotated[Number, Option(help="Facts of a run, one prefill each. [16]")] = None,
    encode_in_flight: Annotated[Numbers, Option(help="Runs to encode at a time. [4]")] = None,
    chat_requests: Annotated[Number, Option(help="Messages of that chat, twice. [100]")] = None,
    bandwidth: Annotated[
        Switch, Option("--bandwidth", help="The injection alone against a copy, on a GPU.")
    ] = False,
    tensor_parallel: Annotated[Number, Option(help="GPUs to spread the model over. [1]")] = None,
    dummy_model: Annotated[
        str, Option(help="A shape with random weights on a GPU: llama-8b or llama-70b.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Measure time to first token with k facts as text and as injected KV, and more on request."""

    async def work(settings: Settings) -> None:
        await _measure(settings, _workload(context.params), dummy_model, as_json=as_json)

    run(work)


async def _measure(settings: Settings, workload: "Workload", dummy: str, *, as_json: bool) -> None:
    from benchmarks.speed.bench_session import run_bench

    with tempfile.TemporaryDirectory() as folder:
        report = await run_bench(settings, workload, dummy, Path(folder), note)
    (note if as_json else say)(as_tables(report))
    say_json(report)
    if report["errors"]:
        raise EngineError("\n".join(f"{part}: {why}" for part, why in report["errors"].items()))


def _workload(options: Mapping[str, Any]) -> "Workload":
    """Make the workload that the options ask for; None is an option that was not given."""
    from benchmarks.speed.bench_session import ENCODE_FACTS, chosen_workload

    given: dict[str, Any] = {}
    for name, value in options.items():
        if name in _LISTS:
            given[_LISTS[name]] = _numbers(f"--{name.replace('_', '-')}", value)
        elif name not in _NOT_OF_THE_PLAN:
            given[name] = value
    if options["encode"] and given["encode_facts"] is None:
        given["encode_facts"] = ENCODE_FACTS
    return chosen_workload(full=options["full"], bandwidth=options["bandwidth"] or None, **given)


def _numbers(option: str, text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise SettingsError(
            f"{option} {text} cannot work: give whole numbers with commas, such as 0,10,50."
        ) from None
