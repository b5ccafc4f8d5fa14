"""Report of `make fleet`: tables for people, JSON for programs."""

from collections.abc import Iterator
from typing import Any

from app.hardware import hardware, versions
from scripts.readme import ROOT

Report = dict[str, Any]

REPORT = ROOT / "docs" / "benchmarks" / "fleet-cpu.json"

COUNTS = {
    "turns_lost": "turns lost",
    "facts_lost": "facts lost",
    "foreign": "foreign memories",
    "wrong": "wrong memories",
    "unclear_errors": "unclear errors",
}


def report(scenarios: list[Report], *, users: int, crowd: int, only: str = "") -> Report:
    """Make the report of a run. `only`: the scenarios asked for, "" for all."""
    chosen = f' FLEET="--only {only}"' if only else ""
    return {
        "command": f"make fleet USERS={users} CROWD={crowd}{chosen}",
        "hardware": hardware().as_json(),
        "versions": versions(),
        "engines": 2,
        "apps": 2,
        "n": {"users": users, "crowd": crowd},
        "counts": totals(scenarios),
        "scenarios": scenarios,
    }


def totals(scenarios: list[Report]) -> dict[str, int]:
    """Sum each count over all scenarios."""
    return {count: sum(each["counts"][count] for each in scenarios) for count in COUNTS}


def as_markdown(found: Report) -> str:
    """Format two tables: the counts, and the errors that users saw."""
    return "\n".join([*_counted(found["scenarios"]), "", *_errors(found["scenarios"])])


def _counted(scenarios: list[Report]) -> Iterator[str]:
    columns = ["what happens", "users", "messages", "with KV", "compared", "turns", "facts"]
    columns += [*COUNTS.values(), "errors seen", "TTFT median / p99, ms", "took, s"]
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for each in scenarios:
        ttft = each["ttft_ms"]
        cells = [each["name"]]
        cells += [f"{each[name]:,}" for name in ("users", "messages", "injected")]
        cells += [f"{each[name]:,}" for name in ("compared", "turns", "facts")]
        cells += [f"{each['counts'][count]:,}" for count in COUNTS]
        cells += [f"{sum(error['n'] for error in each['errors']):,}"]
        cells += [f"{ttft['median']:,.0f} / {ttft['p99']:,.0f}" if ttft else "-"]
        cells += [f"{each['seconds']:.0f}"]
        yield f"| {' | '.join(cells)} |"


def _errors(scenarios: list[Report]) -> Iterator[str]:
    yield "| what happens | n | status | what users were told |"
    yield "| --- | --- | --- | --- |"
    for each in scenarios:
        for error in each["errors"]:
            status = error["status"] or "-"
            yield f"| {each['name']} | {error['n']} | {status} | {error['message']} |"
