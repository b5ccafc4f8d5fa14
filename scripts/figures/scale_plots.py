"""Plots of simulations: time to first token over engines, and minutes around a loss."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

Report = dict[str, Any]

# Told apart without colours too, by marker and line.
MODES = {"text": ("text", "#d55e00", "o"), "kv": ("KV", "#0072b2", "D")}
PERCENTILES = {"median": "-", "p99": "--"}
TIERS = {"device": "#0072b2", "host": "#56b4e9", "none": "#d55e00"}
NAMES = {"none": "nowhere: prefilled as text"}
SIZE = (8.0, 4.5)


def draw(losses: Sequence[Report], sweep: Sequence[Report], stem: Path) -> list[Path]:
    """Write `<stem>-loss.png` of simulations and `<stem>-engines.png` of the sweep."""
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        drawn = {"loss": loss(losses), "engines": over_engines(sweep)}
        paths = []
        for name, figure in drawn.items():
            path = stem.with_name(f"{stem.name}-{name}.png")
            figure.savefig(path, dpi=150)
            paths.append(path)
    return paths


def over_engines(sweep: Sequence[Report]) -> Figure:
    """Draw median and 99th percentile of the time to first token, by the number of engines."""
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    for mode, (label, colour, marker) in MODES.items():
        runs = [run for run in sweep if run["scenario"]["mode"] == mode]
        for percentile, line in PERCENTILES.items():
            times = [run["spans"]["all"]["ttft_ms"][percentile] for run in runs]
            engines = [run["engines"] for run in runs]
            axes.plot(
                engines, times, line, color=colour, marker=marker, label=f"{label}, {percentile}"
            )
    axes.set(xlabel="engines", ylabel="time to first token, ms", yscale="log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xticks(sorted({run["engines"] for run in sweep}))
    axes.grid(axis="y", alpha=0.3)
    axes.legend(frameon=False)
    figure.suptitle("Simulated: time to first token, as text and as KV")
    return figure


def loss(runs: Sequence[Report]) -> Figure:
    """Draw a column for each simulation: tiers of KV and time to first token, by the minute."""
    figure = Figure(figsize=(10.0, 6.0), layout="constrained")
    panels = figure.subplots(2, len(runs), sharex=True, sharey="row", squeeze=False)
    for run, shares, times in zip(runs, *panels, strict=True):
        settled = run["spans"]["before"]["from_s"]
        minutes = [each for each in run["minutes"] if each["from_s"] >= settled]
        at = [minute["from_s"] / 60 for minute in minutes]
        found = [[minute["found"][tier] for minute in minutes] for tier in TIERS]
        labels = [NAMES.get(tier, tier) for tier in TIERS]
        shares.stackplot(at, found, colors=list(TIERS.values()), labels=labels)
        for percentile, line in PERCENTILES.items():
            each = [minute["ttft_ms"][percentile] for minute in minutes]
            times.plot(at, each, line, color=MODES["kv"][1], label=percentile, linewidth=1)
        shares.set(title=f"one of {run['engines']} engines is lost", ylim=(0, 1))
        times.set_xlabel("minutes")
        for axes in (shares, times):
            axes.axvline(run["lost_at_s"] / 60, color="black", linewidth=0.8)
            axes.grid(axis="y", alpha=0.3)
    panels[0][0].set_ylabel("share of messages")
    panels[0][0].legend(loc="lower left")
    panels[1][0].set_ylabel("time to first token, ms")
    panels[1][0].set_ylim(bottom=0)
    panels[1][0].legend(frameon=False, loc="upper left")
    figure.suptitle("Simulated: where the KV of a message was found, and the wait for it")
    return figure
