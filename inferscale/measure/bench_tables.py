"""Tables of a report of `inferscale bench`, for people."""

from collections.abc import Callable
from typing import Any

from inferscale.output import table

Report = dict[str, Any]


def as_tables(report: Report) -> str:
    """Format every part that was measured, and at the end the targets."""
    parts: list[Callable[[Report], str]] = [
        _rows,
        _fact_lengths,
        _throughput,
        _latencies_under_load,
        _encoding,
        _chat,
        _bandwidth,
        _targets,
    ]
    return "\n\n".join(filter(None, (part(report) for part in parts)))


def _rows(report: Report) -> str:
    machine, versions = report["hardware"], report["versions"]
    heading = (
        f"Time to first token in ms, medians of {report['n']} after {report['warm_ups_dropped']} "
        f"warm-up\n{report['model']}, {report['fact_tokens']} tokens a fact\n"
        f"{machine['gpu'] or machine['cpu']}, {machine['cores']} cores, "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
    )
    return _latency_table(heading, "k", report["rows"])


def _fact_lengths(report: Report) -> str:
    rows = report["fact_lengths"]
    if not rows:
        return ""
    return _latency_table(f"The same with {rows[0]['k']} facts", "fact_tokens", rows)


def _latency_table(heading: str, first: str, rows: list[Report]) -> str:
    columns = [first.replace("_", " "), "prompt tokens", "text cold", "p90", "text warm"]
    columns += ["KV", "p90", "speedup"]
    host = rows[0]["host_ttft_ms"] is not None
    columns += ["KV from host", "p90", "speedup"] if host else []
    lines = [
        [
            row[first],
            row["prompt_tokens"],
            *_spread(row["text_ttft_ms"]),
            row["text_warm_ttft_ms"]["median"],
            *_spread(row["kv_ttft_ms"]),
            f"{row['speedup']:.2f}x",
            *(_spread(row["host_ttft_ms"]) if host else []),
            *([f"{row['host_speedup']:.2f}x"] if host else []),
        ]
        for row in rows
    ]
    return table(heading, columns, lines)


def _spread(spread: Report) -> list[float]:
    return [spread["median"], spread["p90"]]


def _throughput(report: Report) -> str:
    rows = report["throughput"]
    if not rows:
        return ""
    heading = f"Requests a second with {rows[0]['k']} facts, {rows[0]['batches']} batches an arm"
    columns = ["in flight", "requests", "output tokens", "text", "KV", "speedup"]
    lines = [
        [
            row["concurrency"],
            row["requests"],
            row["output_tokens"],
            f"{row['text']['requests_per_s']:.2f}",
            f"{row['kv']['requests_per_s']:.2f}",
            f"{row['speedup']:.2f}x",
        ]
        for row in rows
    ]
    return table(heading, columns, lines)


def _latencies_under_load(report: Report) -> str:
    rows = report["throughput"]
    if not rows:
        return ""
    columns = ["in flight", "output tokens", "ms", "arm", "mean", "median", "p90", "p99"]
    lines = [
        [row["concurrency"], row["output_tokens"], name, arm, *row[arm][f"{name}_ms"].values()]
        for row in rows
        for name in ("ttft", "tpot", "itl", "e2el")
        for arm in ("text", "kv")
        if row[arm][f"{name}_ms"]
    ]
    return table("Latencies of those requests, in ms", columns, lines)


def _encoding(report: Report) -> str:
    encoding = report["encoding"]
    if not encoding:
        return ""
    heading = (
        f"Encoding {encoding['facts']} facts of {encoding['fact_tokens']} tokens in runs of "
        f"{encoding['facts_a_run']}, each behind {encoding['window_facts']} facts; one alone "
        f"{encoding['alone_ms_per_fact']['median']:.1f} ms"
    )
    lines = [[rate["in_flight"], rate["facts_per_s"]] for rate in encoding["rates"]]
    return table(heading, ["runs in flight", "facts/s"], lines)


def _chat(report: Report) -> str:
    chat = report["chat"]
    if not chat:
        return ""
    heading = (
        f"A chat in KV mode with {chat['k']} facts, n={chat['n']}, alone and while "
        f"{chat['facts_per_s']:.0f} facts/s are encoded, in ms"
    )
    columns = ["time to first token", "alone median", "p99", "encoding median", "p99", "p99 rise"]
    lines = []
    for name, field, rise in (
        ("from the request", "ttft_ms", "p99_rise_percent"),
        ("from the message", "from_message_ms", "p99_rise_from_message_percent"),
    ):
        alone, beside = chat["alone"][field], chat["while_encoding"][field]
        line = [name, alone["median"], alone["p99"], beside["median"], beside["p99"]]
        lines.append([*line, f"{chat[rise]:.1f} %"])
    return table(heading, columns, lines)


def _bandwidth(report: Report) -> str:
    bandwidth = report["bandwidth"]
    if not bandwidth:
        return ""
    heading = f"The injection alone; a copy moves {bandwidth['copy_gb_per_s']:.0f} GB/s"
    columns = ["k", "tokens", "GB/s", "of a copy", "device ms", "host ms"]
    lines = [
        [
            row["k"],
            row["tokens"],
            row["gb_per_s"],
            f"{row['percent_of_copy']:.1f} %",
            f"{row['ms']:.3f}",
            f"{row['host_ms']:.3f}",
        ]
        for row in bandwidth["rows"]
    ]
    return table(heading, columns, lines)


def _targets(report: Report) -> str:
    measured = [each for each in report["targets"] if each["measured"] is not None]
    if not measured:
        return ""
    lines = [[each["name"], *target_cells(each)] for each in measured]
    return table("What was aimed at", ["what", "target", "measured", "reached"], lines)


def target_cells(target: Report) -> list[str]:
    """Format bound, figure and verdict of a target."""
    unit = target["unit"] if target["unit"] in ("x",) else f" {target['unit']}"
    bound = "-"
    if target["at_least"] is not None:
        bound = f">= {target['at_least']:g}{unit}"
    elif target["at_most"] is not None:
        bound = f"<= {target['at_most']:g}{unit}"
    verdict = {True: "yes", False: "no", None: "-"}[target["reached"]]
    return [bound, f"{target['measured']:g}{unit}", verdict]
