"""Writer of the figures of docs/performance.md, from the report of the complete run.

python -m scripts.figures.speed_figures
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from inferscale.measure.bench_tables import target_cells
from scripts.readme import ROOT
from scripts.stages import AGAIN, NO_FACTS, as_table

PAGE = ROOT / "docs" / "performance.md"
REPORT = ROOT / "docs" / "benchmarks" / "h200-llama-8b-full.json"
STAGES = ROOT / "docs" / "benchmarks" / "h200-llama-8b-first-token.json"
FIRST_TOKEN = re.compile(r"(?<=<!-- first token -->\n).*(?=<!-- end of first token -->)", re.DOTALL)
FIGURES = re.compile(r"(?<=<!-- figures -->\n).*(?=<!-- end of figures -->)", re.DOTALL)
TO_COME = "The complete run is to come; its figures will stand here.\n"

Report = dict[str, Any]


def rendered(page: str, report: Report | None) -> str:
    """Fill the page with the report's figures, or with the word that they are to come."""
    block = TO_COME if report is None else "\n".join(_block(report))
    return FIGURES.sub(lambda _: block, page)


def with_stages(page: str, report: Report) -> str:
    """Fill the page with the stages of a first token, but for those of cold text."""
    arms = {
        name: spans
        for name, spans in report["arms"].items()
        if not name.startswith("text") or name.endswith((AGAIN, NO_FACTS))
    }
    said = f"{report['model']}, {report['hardware']['gpu']}, medians of {report['n']} "
    said += f"([report](benchmarks/{STAGES.name})):"
    return FIRST_TOKEN.sub(lambda _: f"{said}\n\n{as_table(arms)}\n", page)


def read_report(path: Path = REPORT) -> Report | None:
    """Read a report; None if there is none."""
    if not path.exists():
        return None
    report: Report = json.loads(path.read_text(encoding="utf-8"))
    return report


def _block(report: Report) -> Iterator[str]:
    machine = report["hardware"]
    ranks = f" on {report['tensor_parallel']} GPUs" if report["tensor_parallel"] > 1 else ""
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    yield (
        f"{report['model']}{ranks}, {report['fact_tokens']} tokens a fact, "
        f"{machine['gpu'] or machine['cpu']}; {versions}; medians of {report['n']} after "
        f"{report['warm_ups_dropped']} dropped; {report['seconds']['all']:.0f} s in all "
        f"([report](benchmarks/{REPORT.name})).\n"
    )
    for part, why in report["errors"].items():
        yield f"**{part} failed:** {why}\n"
    yield from _targets(report)
    yield from _latency(report)
    yield from _load(report)
    yield from _encoding(report)
    yield from _chat(report)
    yield from _bandwidth(report)


def _targets(report: Report) -> Iterator[str]:
    rows = [
        [each["name"], *target_cells(each)]
        for each in report["targets"]
        if each["measured"] is not None
    ]
    yield from _table("Targets", ["what", "target", "measured", "reached"], rows)


def _latency(report: Report) -> Iterator[str]:
    columns = ["prompt tokens", "text, cold", "text, same prompt again", "KV", "text cold / KV"]
    columns += ["KV from host", "text cold / KV from host"]
    rows = [[row["k"], *_times(row)] for row in report["rows"]]
    title = "Time to first token over facts, median (p90) in ms"
    yield from _table(title, ["facts", *columns], rows)
    yield f"![Time to first token over facts](benchmarks/{REPORT.stem}-ttft.png)\n"
    rows = [[row["fact_tokens"], *_times(row)] for row in report["fact_lengths"] or ()]
    if rows:
        title = f"The same with {report['fact_lengths'][0]['k']} facts of other lengths"
        yield from _table(title, ["tokens a fact", *columns], rows)
    held = report["bytes_held"]
    yield (
        f"Held: {_mib(held['a_fact'])} a fact, {_mib(held['device'])} on the device and "
        f"{_mib(held['host'])} in host memory for {held['facts']} facts.\n"
    )


def _times(row: Report) -> list[str]:
    host = row["host_ttft_ms"]
    return [
        f"{row['prompt_tokens']:,}",
        _spread(row["text_ttft_ms"]),
        _spread(row["text_warm_ttft_ms"]),
        _spread(row["kv_ttft_ms"]),
        f"{row['speedup']:.2f}x",
        _spread(host) if host else "-",
        f"{row['host_speedup']:.2f}x" if host else "-",
    ]


def _load(report: Report) -> Iterator[str]:
    rows = report["throughput"]
    if not rows:
        return
    columns = ["in flight", "requests", "output tokens", "text, requests/s", "KV, requests/s"]
    lines = [
        [
            row["concurrency"],
            row["requests"] * row["batches"],
            row["output_tokens"],
            f"{row['text']['requests_per_s']:.2f}",
            f"{row['kv']['requests_per_s']:.2f}",
            f"{row['speedup']:.2f}x",
        ]
        for row in rows
    ]
    yield from _table(f"Load, {rows[0]['k']} facts a request", [*columns, "KV / text"], lines)
    yield f"![Throughput over requests in flight](benchmarks/{REPORT.stem}-throughput.png)\n"
    lines = [
        [row["concurrency"], row["output_tokens"], f"{name.upper()}, {arm}"]
        + [f"{figure:.1f}" for figure in row[arm][f"{name}_ms"].values()]
        for row in rows
        for name in ("ttft", "tpot", "itl", "e2el")
        for arm in ("text", "kv")
        if row[arm][f"{name}_ms"]
    ]
    columns = ["in flight", "output tokens", "time", "mean", "median", "p90", "p99"]
    yield from _table("Latencies under that load, in ms", columns, lines)


def _encoding(report: Report) -> Iterator[str]:
    encoding = report["encoding"]
    if not encoding:
        return
    columns = ["runs in flight", "facts/s"]
    lines = [[rate["in_flight"], f"{rate['facts_per_s']:.0f}"] for rate in encoding["rates"]]
    title = (
        f"Encoding {encoding['facts']} facts in runs of {encoding['facts_a_run']}; one alone "
        f"takes {encoding['alone_ms_per_fact']['median']:.1f} ms"
    )
    yield from _table(title, columns, lines)


def _chat(report: Report) -> Iterator[str]:
    chat = report.get("chat")
    if not chat:
        return
    columns = ["time to first token", "alone, median / p99 ms", "while encoding", "rise of p99"]
    lines = []
    for name, field, rise in (
        ("from the request", "ttft_ms", "p99_rise_percent"),
        ("from the message, with recall", "from_message_ms", "p99_rise_from_message_percent"),
    ):
        alone, beside = chat["alone"][field], chat["while_encoding"][field]
        times = [f"{each['median']:.1f} / {each['p99']:.1f}" for each in (alone, beside)]
        lines.append([name, *times, f"{chat[rise]:.1f} %"])
    title = (
        f"A chat in KV mode with {chat['k']} facts, {chat['n']} messages each, alone and while "
        f"{chat['facts_per_s']:.0f} facts/s are encoded"
    )
    yield from _table(title, columns, lines)


def _bandwidth(report: Report) -> Iterator[str]:
    bandwidth = report["bandwidth"]
    if not bandwidth:
        return
    lines = [
        [
            row["k"],
            f"{row['tokens']:,}",
            f"{row['gb_per_s']:,.0f}",
            f"{row['percent_of_copy']:.1f} %",
            f"{row['ms']:.3f}",
            f"{row['host_ms']:.3f}",
        ]
        for row in bandwidth["rows"]
    ]
    title = f"The injection alone; a copy moves {bandwidth['copy_gb_per_s']:,.0f} GB/s"
    yield from _table(
        title, ["facts", "tokens", "GB/s", "of a copy", "device ms", "host ms"], lines
    )


def _spread(spread: Report) -> str:
    return f"{spread['median']:,.1f} ({spread['p90']:,.1f})"


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB"


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"**{title}**\n"
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
    yield ""


if __name__ == "__main__":
    text = rendered(PAGE.read_text(encoding="utf-8"), read_report())
    stages = read_report(STAGES)
    PAGE.write_text(text if stages is None else with_stages(text, stages), encoding="utf-8")
