"""`inferscale bench`: what KV injection costs and gains in time, bytes and requests a second."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from app.cli.bench_tables import as_tables
from app.cli.command import AsJson, run
from app.cli.output import note, say, say_json
from app.settings import Settings
from memory_engine.errors import EngineError, SettingsError


def bench(
    k: Annotated[
        str | None, typer.Option("--k", help="Numbers of facts, with commas. [0,10,50,100]")
    ] = None,
    fact_tokens: Annotated[int | None, typer.Option(help="Tokens of every fact. [24]")] = None,
    repeats: Annotated[int | None, typer.Option(help="Measured turns of every arm. [5]")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="All that follows, in sizes that suit this machine.")
    ] = False,
    host_mib: Annotated[
        int | None, typer.Option(help="KV from host memory of this size; 0 for none. [0]")
    ] = None,
    fact_lengths: Annotated[
        str | None, typer.Option(help="Tokens a fact to sweep over, such as 10,20,40,80.")
    ] = None,
    concurrency: Annotated[
        str | None, typer.Option(help="Requests in flight to sweep over, such as 1,8,32,128.")
    ] = None,
    requests: Annotated[
        int | None, typer.Option(help="Most requests of a batch in that sweep. [128]")
    ] = None,
    output_tokens: Annotated[
        str | None, typer.Option(help="Lengths of the replies in that sweep. [32]")
    ] = None,
    load_k: Annotated[
        int | None, typer.Option(help="Facts of a request in the sweeps. [50]")
    ] = None,
    encode: Annotated[
        bool, typer.Option("--encode", help="Rate of encoding, and what a chat notices of it.")
    ] = False,
    encode_facts: Annotated[
        int | None, typer.Option(help="Facts to encode for that; implies it. [1024]")
    ] = None,
    encode_in_flight: Annotated[
        str | None, typer.Option(help="Runs of facts to encode at a time. [16]")
    ] = None,
    chat_requests: Annotated[
        int | None, typer.Option(help="Requests of the chat meanwhile, twice. [100]")
    ] = None,
    bandwidth: Annotated[
        bool, typer.Option("--bandwidth", help="The injection alone against a copy, on a GPU.")
    ] = False,
    tensor_parallel: Annotated[
        int | None, typer.Option(help="GPUs to spread the model over. [1]")
    ] = None,
    dummy_model: Annotated[
        str, typer.Option(help="A shape with random weights on a GPU: llama-8b or llama-70b.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Measure time to first token with k facts as text and as injected KV, and more on request."""

    async def work(settings: Settings) -> None:
        from app.bench.session import ENCODE_FACTS, planned, run_bench

        plan = planned(
            full=full,
            ks=_numbers("--k", k),
            fact_tokens=fact_tokens,
            repeats=repeats,
            host_mib=host_mib,
            fact_lengths=_numbers("--fact-lengths", fact_lengths),
            concurrency=_numbers("--concurrency", concurrency),
            requests=requests,
            output_tokens=_numbers("--output-tokens", output_tokens),
            load_k=load_k,
            encode_facts=ENCODE_FACTS if encode and encode_facts is None else encode_facts,
            encode_in_flight=_numbers("--encode-in-flight", encode_in_flight),
            chat_requests=chat_requests,
            bandwidth=bandwidth or None,
            tensor_parallel=tensor_parallel,
        )
        with tempfile.TemporaryDirectory() as folder:
            report = await run_bench(settings, plan, dummy_model, Path(folder), note)
        (note if as_json else say)(as_tables(report))
        say_json(report)
        if report["errors"]:
            raise EngineError("\n".join(f"{part}: {why}" for part, why in report["errors"].items()))

    run(work)


def _numbers(option: str, text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise SettingsError(
            f"{option} {text} cannot work: give whole numbers with commas, such as 0,10,50."
        ) from None
