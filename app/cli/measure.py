"""`inferscale bench` and `inferscale demo`: what KV injection costs and what it keeps."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.command import AsJson, run
from app.cli.output import note, say, say_json, table
from app.settings import Settings
from memory_engine.errors import SettingsError

if TYPE_CHECKING:
    from app.demo import Answers


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


def demo(as_json: AsJson = False) -> None:
    """Ask a sample person's twenty questions as text, as KV and without memory."""

    async def work(settings: Settings) -> None:
        from app import demo as sample

        answers = await sample.demo(settings, note)
        (note if as_json else say)(_answers_table(answers))
        say_json(sample.report(answers))

    run(work)


def _answers_table(answers: "Sequence[Answers]") -> str:
    rows: list[list[object]] = []
    for each in answers:
        replies = [each.replies[way] for way in ("text", "kv")]
        marks = ["yes" if each.right(way) else "no" for way in ("text", "kv", "none")]
        times = [reply.ttft_ms for reply in replies]
        same = "yes" if replies[0].reply == replies[1].reply else "no"
        rows.append([each.question.question, each.question.answer, *marks, same, *times])
    columns = ["question", "answer", "text", "kv", "none", "same", "text ms", "kv ms"]
    return table("Right answers, and ms to the first token", columns, rows)


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
