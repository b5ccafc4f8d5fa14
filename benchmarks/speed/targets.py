"""Targets of the benchmark, judged by a report."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

Report = dict[str, Any]
Value = Callable[[Report], float | None]


@dataclass(frozen=True, slots=True)
class Target:
    """A figure of a report and its bound; without a bound it is only shown."""

    name: str
    unit: str
    value: Value
    at_least: float | None = None
    at_most: float | None = None

    def judge(self, report: Report) -> dict[str, Any]:
        """Judge a report; `measured` and `reached` are null where there is nothing."""
        measured = self.value(report)
        reached = None
        if measured is not None and self.at_least is not None:
            reached = measured >= self.at_least
        elif measured is not None and self.at_most is not None:
            reached = measured <= self.at_most
        return {
            "name": self.name,
            "unit": self.unit,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "measured": measured,
            "reached": reached,
        }


def judged(report: Report) -> list[dict[str, Any]]:
    """Judge the targets for the report's device."""
    targets = CPU if report["device"] == "cpu" else GPU
    return [target.judge(report) for target in targets]


def _row(report: Report, k: int) -> dict[str, Any] | None:
    return next((row for row in report["rows"] if row["k"] == k), None)


def _speedup(k: int, arm: str, report: Report) -> float | None:
    row = _row(report, k)
    return None if row is None else row[arm]


def _kv_over_empty_text(k: int, report: Report) -> float | None:
    row, empty = _row(report, k), _row(report, 0)
    if row is None or empty is None:
        return None
    return round(float(row["kv_ttft_ms"]["median"] / empty["text_ttft_ms"]["median"]), 3)


def _throughput(concurrency: int, output_tokens: int, report: Report) -> float | None:
    for row in report.get("throughput") or ():
        if (row["concurrency"], row["output_tokens"]) == (concurrency, output_tokens):
            return float(row["speedup"])
    return None


def _bandwidth(k: int, field: str, report: Report) -> float | None:
    rows = (report.get("bandwidth") or {}).get("rows", ())
    return next((float(row[field]) for row in rows if row["k"] == k), None)


def _facts_per_s(report: Report) -> float | None:
    rates = (report.get("encoding") or {}).get("rates", ())
    return max((float(rate["facts_per_s"]) for rate in rates), default=None)


def _chat(report: Report) -> float | None:
    chat = report.get("chat")
    return None if chat is None else float(chat["p99_rise_percent"])


GPU = (
    Target("TTFT, KV k=200 over text k=0", "x", partial(_kv_over_empty_text, 200), at_most=1.1),
    Target("TTFT, KV against text, k=50", "x", partial(_speedup, 50, "speedup"), at_least=4.5),
    Target("TTFT, KV against text, k=100", "x", partial(_speedup, 100, "speedup"), at_least=9),
    Target("TTFT, KV against text, k=200", "x", partial(_speedup, 200, "speedup"), at_least=15),
    Target(
        "TTFT, KV from host against text, k=50",
        "x",
        partial(_speedup, 50, "host_speedup"),
        at_least=3,
    ),
    Target(
        "requests/s, KV against text, 128 in flight, 32 tokens out",
        "x",
        partial(_throughput, 128, 32),
        at_least=7,
    ),
    Target(
        "requests/s, KV against text, 128 in flight, 1 token out",
        "x",
        partial(_throughput, 128, 1),
        at_least=12,
    ),
    Target(
        "injection, k=50, of copy bandwidth",
        "%",
        partial(_bandwidth, 50, "percent_of_copy"),
        at_least=60,
    ),
    Target(
        "injection, k=200, of copy bandwidth",
        "%",
        partial(_bandwidth, 200, "percent_of_copy"),
        at_least=60,
    ),
    Target("injection, k=50, host time", "ms", partial(_bandwidth, 50, "host_ms"), at_most=0.3),
    Target("facts encoded, best rate", "facts/s", _facts_per_s, at_least=500),
    Target("a chat's p99 TTFT, rise while facts are encoded", "%", _chat, at_most=20),
)
CPU = (
    Target("TTFT, KV against text, k=50", "x", partial(_speedup, 50, "speedup"), at_least=8),
    Target("TTFT, KV from host against text, k=50", "x", partial(_speedup, 50, "host_speedup")),
    Target("facts encoded, best rate", "facts/s", _facts_per_s),
)
