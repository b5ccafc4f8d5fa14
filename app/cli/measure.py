"""`inferscale bench`: the cost of k facts as text and as KV."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.command import AsJson, run
from app.cli.output import note, say, say_json, table
from app.settings import Settings
from memory_engine.errors import SettingsError


def bench(
    k: Annotated[str, typer.Option("--k", help="Numbers of facts, with commas.")] = "0,10,50,100",
    fact_tokens: Annotated[int, typer.Option(help="Tokens of every fact.")] = 24,
    repeats: Annotated[int, typer.Option(help="Measured turns of every mode.")] = 5,
    dummy_model: Annotated[
        str, typer.Option(help="Measure a shape with random weights on a GPU: llama-8b.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Measure time to first token with k facts, as text and as injected KV."""

    async def work(settings: Settings) -> None:
        from app.bench import Bench
        from app.bench_engine import run_bench

        plan = Bench(_numbers(k), fact_tokens, repeats)
        with tempfile.TemporaryDirectory() as folder:
            report = await run_bench(settings, plan, dummy_model, Path(folder), note)
        (note if as_json else say)(_as_table(report))
        say_json(report)

    run(work)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise SettingsError(
            f"--k {text} cannot work: give whole numbers with commas, such as 0,10,50."
        ) from None


def _as_table(report: dict[str, Any]) -> str:
    columns = ["k", "prompt tokens", "text cold", "p90", "text warm", "KV", "p90", "speedup"]
    rows = [
        [
            row["k"],
            row["prompt_tokens"],
            row["text_ttft_ms"]["median"],
            row["text_ttft_ms"]["p90"],
            row["text_warm_ttft_ms"]["median"],
            row["kv_ttft_ms"]["median"],
            row["kv_ttft_ms"]["p90"],
            f"{row['speedup']:.2f}x",
        ]
        for row in report["rows"]
    ]
    machine, versions = report["hardware"], report["versions"]
    heading = (
        f"Time to first token in ms, medians of {report['n']} after {report['warm_ups_dropped']} "
        f"warm-up\n{report['model']}, {report['fact_tokens']} tokens a fact\n"
        f"{machine['gpu'] or machine['cpu']}, {machine['cores']} cores, "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
    )
    return table(heading, columns, rows)
