"""Writer of the rates that `inferscale plan` ships with, cut out of the committed report.

python -m scripts.figures.ship_rates
"""

import json

from benchmarks.capacity.rates import ARMS, SHIPPED, Report
from scripts.figures.speed_figures import REPORT

_KEPT = ("model", "device", "hardware", "versions", "tensor_parallel", "fact_tokens", "n")
_ROW = ("k", "prompt_tokens", *ARMS.values())
_LOAD = ("concurrency", "output_tokens", "k", "prompt_tokens")


def cut(report: Report) -> Report:
    """Cut out the parts of a report of `inferscale bench` that the capacity needs."""
    return {
        "from": f"docs/benchmarks/{REPORT.name}",
        **{name: report[name] for name in _KEPT},
        "encode": {"ms_per_fact": report["encode"]["ms_per_fact"]},
        "bytes_held": {"a_token": report["bytes_held"]["a_token"]},
        "rows": [{name: row[name] for name in _ROW} for row in report["rows"]],
        "throughput": [_load(row) for row in report["throughput"]],
        "encoding": {"rates": report["encoding"]["rates"]},
        "chat": {"facts_per_s": report["chat"]["facts_per_s"]},
        "bandwidth": {"copy_gb_per_s": report["bandwidth"]["copy_gb_per_s"]},
    }


def _load(row: Report) -> Report:
    arms = {arm: {"requests_per_s": row[arm]["requests_per_s"]} for arm in ("text", "kv")}
    return {name: row[name] for name in _LOAD} | arms


def rendered() -> str:
    """Make the text of the file as it should be."""
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    return json.dumps(cut(report), indent=1) + "\n"


if __name__ == "__main__":
    SHIPPED.write_text(rendered(), encoding="utf-8")
