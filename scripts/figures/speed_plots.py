"""Plots of a report of `inferscale bench`: TTFT over facts, and throughput over clients.

python -m scripts.figures.speed_plots [report.json ...]    # PNGs beside each report
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from scripts.figures.speed_figures import REPORT

Report = dict[str, Any]

# Told apart without colours too, by marker and line.
ARMS = {
    "text_ttft_ms": ("text, cold", "#d55e00", "o", "-"),
    "text_warm_ttft_ms": ("text, same prompt again", "#e69f00", "s", "--"),
    "host_ttft_ms": ("KV from host memory", "#009e73", "^", "--"),
    "kv_ttft_ms": ("KV from the device", "#0072b2", "D", "-"),
}
MODES = {"text": ("text", "#d55e00", "o", "-"), "kv": ("KV", "#0072b2", "D", "-")}
SIZE = (8.0, 4.5)


def draw(report: Report, stem: Path) -> list[Path]:
    """Write `<stem>-ttft.png` and, if load was measured, `<stem>-throughput.png`."""
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        drawn = {"ttft": ttft_over_facts(report)}
        if report.get("throughput"):
            drawn["throughput"] = requests_over_clients(report)
        paths = []
        for name, figure in drawn.items():
            path = stem.with_name(f"{stem.name}-{name}.png")
            figure.savefig(path, dpi=150)
            paths.append(path)
    return paths


def ttft_over_facts(report: Report) -> Figure:
    """Draw medians of the arms, with a band to the 90th percentile."""
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    ks = [row["k"] for row in report["rows"]]
    for arm, (label, colour, marker, line) in ARMS.items():
        spreads = [row.get(arm) for row in report["rows"]]
        if not all(spreads):
            continue
        medians = [spread["median"] for spread in spreads]
        axes.plot(ks, medians, line, color=colour, marker=marker, label=label)
        axes.fill_between(ks, medians, [s["p90"] for s in spreads], color=colour, alpha=0.15)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    # Small numbers of facts lie apart, and 0 has a place.
    least = min(filter(None, ks), default=1)
    axes.set_xscale("symlog", linthresh=least)
    axes.set_xlim(-least / 10, max(*ks, 1) * 1.1)
    axes.set(xlabel=f"facts of {report['fact_tokens']} tokens", ylabel="time to first token, ms")
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", alpha=0.3)
    axes.legend(frameon=False)
    figure.suptitle(f"Time to first token, median to p90 of {report['n']}: {_what(report)}")
    return figure


def requests_over_clients(report: Report) -> Figure:
    """Draw one panel for every length of the replies."""
    lengths = sorted({row["output_tokens"] for row in report["throughput"]})
    figure = Figure(figsize=SIZE, layout="constrained")
    panels = figure.subplots(1, len(lengths), squeeze=False)[0]
    for axes, length in zip(panels, lengths, strict=True):
        rows = [row for row in report["throughput"] if row["output_tokens"] == length]
        clients = [row["concurrency"] for row in rows]
        for mode, (label, colour, marker, line) in MODES.items():
            rates = [row[mode]["requests_per_s"] for row in rows]
            axes.plot(clients, rates, line, color=colour, marker=marker, label=label)
        axes.set_xscale("log", base=2)
        axes.set_xticks(clients, [str(each) for each in clients])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_ylim(bottom=0)
        tokens = "1 output token" if length == 1 else f"{length} output tokens"
        axes.set(title=tokens, xlabel="requests in flight")
        axes.grid(axis="y", alpha=0.3)
    panels[0].legend(frameon=False)
    panels[0].set_ylabel("requests a second")
    k = report["throughput"][0]["k"]
    figure.suptitle(f"Throughput with {k} facts a request: {_what(report)}")
    return figure


def _what(report: Report) -> str:
    machine = report["hardware"]
    return f"{report['model']}, {machine['gpu'] or machine['cpu']}"


def main(arguments: list[str]) -> None:
    """Draw the named reports, or the one that docs/performance.md shows."""
    for name in arguments or [str(REPORT)]:
        path = Path(name)
        for drawn in draw(json.loads(path.read_text(encoding="utf-8")), path.with_suffix("")):
            print(drawn)


if __name__ == "__main__":
    main(sys.argv[1:])
