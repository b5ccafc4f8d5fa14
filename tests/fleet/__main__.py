"""Program of `make fleet`: a whole fleet on this machine, its failures and their cost.

python -m tests.fleet [--users 8] [--crowd 100] [--only engine,app] [--write]
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from time import monotonic

from scripts.fleet_report import REPORT, Report, as_markdown, report
from tests.conftest import postgres_programs
from tests.fleet.fleet_run import Run
from tests.fleet.fleet_server import running
from tests.fleet.scenarios import SCENARIOS, FailureScenario
from tests.fleet.user_journal import Journal

STOPPED = 130


def main() -> int:
    """Run, print the tables and one line of JSON; 1 if a count is not 0."""
    given = _arguments()
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    played: list[Report] = []
    stopped = False
    with tempfile.TemporaryDirectory(prefix="inferscale-fleet-") as folder:
        try:
            asyncio.run(_run(Path(folder), given, played))
        except asyncio.CancelledError:
            stopped = True
            _note("stopped; everything is ended")
    found = report(played, users=given.users, crowd=given.crowd, only=given.only)
    print(as_markdown(found))
    print(json.dumps(found))
    if stopped:
        return STOPPED
    if given.write:
        REPORT.write_text(json.dumps(found) + "\n", encoding="utf-8")
    return int(any(found["counts"].values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fleet", description=__doc__)
    parser.add_argument("--users", type=int, default=8, help="users of a scenario")
    parser.add_argument("--crowd", type=int, default=100, help="users of the crowd")
    parser.add_argument("--only", default="", help="some of " + ",".join(SCENARIOS))
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.name} too")
    return parser.parse_args()


async def _run(folder: Path, given: argparse.Namespace, played: list[Report]) -> None:
    # Whoever ends us ends the fleet: the task is cancelled and everything is closed.
    work = asyncio.current_task()
    assert work is not None
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, work.cancel)
    _note("starting PostgreSQL, two engines, the router and two apps ...")
    began = monotonic()
    async with running(folder, postgres_programs()) as machine, Run(machine) as run:
        _note(f"... they run after {monotonic() - began:.0f} s")
        for name in given.only.split(",") if given.only else SCENARIOS:
            scenario = SCENARIOS[name]
            users = given.crowd if scenario.crowd else given.users
            played.append(await _play(run, scenario, users))
        _note("ending ...")


async def _play(run: Run, scenario: FailureScenario, users: int) -> Report:
    _note(f"{scenario.name} ...")
    journal, began = Journal(), monotonic()
    spans = await scenario.play(run, journal, users)
    seconds = monotonic() - began
    found = journal.as_json(breaks=scenario.breaks)
    for what in ("lost_turns", "lost_facts", "foreign", "wrong"):
        for line in getattr(journal, what):
            _note(f"  {what}: {line}")
    counts = ", ".join(f"{name} {n}" for name, n in found["counts"].items())
    _note(f"... {seconds:.0f} s: {counts}, errors {found['errors']}")
    spans = {name: round(span, 1) for name, span in spans.items()}
    return {"name": scenario.name, "seconds": round(seconds, 1), **spans, **found}


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
