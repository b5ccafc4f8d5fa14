"""Runs of `inferscale plan` that docs/scale.md shows, and their reports.

python -m scripts.figures.scale_runs [name ...]    # a quarter of an hour on one core for all
"""

import json
import subprocess
import sys
from typing import Any

from benchmarks.capacity.simulation.scenario import SimulatedMode
from scripts.readme import ROOT

Report = dict[str, Any]

REPORTS = ROOT / "docs" / "benchmarks"
FLEET = "--model llama-8b --store fp8 --host-gib 256"
# Every run by the name of its report, with its command.
RUNS = {
    "fleet": f"{FLEET} --engines 12 --simulate",
    "fleet-text": f"{FLEET} --engines 12 --simulate --mode text",
    "tight": f"{FLEET} --engines 6 --simulate",
    "disk": f"{FLEET} --engines 12 --disk-gib 8000 --disk-gb-per-s 6 --simulate --no-lose",
    "talkative": f"{FLEET} --engines 12 --conversation 20 --simulate --no-lose",
}
SWEEP = "sweep"
SWEPT = (4, 5, 6, 8, 12, 16)
MODES: tuple[SimulatedMode, ...] = ("kv", "text")


def swept(engines: int, mode: str) -> str:
    """Return the arguments of one run of the sweep over engines."""
    return f"{FLEET} --engines {engines} --simulate --no-lose --hours 0.5 --mode {mode}"


def command(arguments: str) -> str:
    """Return the command as a user types it."""
    return f"inferscale plan {arguments} --json"


def read(name: str) -> Any:
    """Read the report of a run; None if there is none."""
    path = REPORTS / f"scale-{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _answer(arguments: str) -> Report:
    program = [sys.executable, "-m", "inferscale", "plan", *arguments.split(), "--json"]
    done = subprocess.run(program, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    answer: Report = json.loads(done.stdout)
    return answer


def _run(name: str) -> Any:
    if name != SWEEP:
        return _answer(RUNS[name])
    rows = []
    for engines in SWEPT:
        for mode in MODES:
            simulation = _answer(swept(engines, mode))["simulation"]
            del simulation["minutes"]
            rows.append(simulation)
    return rows


def main(names: list[str]) -> None:
    """Run the named ones, or all, and write their reports."""
    for name in names or [*RUNS, SWEEP]:
        path = REPORTS / f"scale-{name}.json"
        path.write_text(json.dumps(_run(name)) + "\n", encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
