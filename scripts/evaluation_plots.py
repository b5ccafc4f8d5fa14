"""Draws a report of `inferscale eval fidelity`: what KV retains, and how its replies agree."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

Report = dict[str, Any]

# Told apart without colours too, by marker.
ARMS = {
    "kv": ("KV", "#0072b2", "D"),
    "reordered": ("text, reordered", "#d55e00", "o"),
    "relevance": ("text, by relevance", "#009e73", "s"),
}
PANELS = {
    "retained": "gain of the facts that is retained",
    "forced_agreement": "likeliest tokens as in text",
}
_ROW, _MARGIN = 0.32, 1.6  # inches


def draw(report: Report, stem: Path) -> Path:
    """Write `<stem>-retained.png`."""
    path = stem.with_name(f"{stem.name}-retained.png")
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        intervals(report).savefig(path, dpi=150)
    return path


def intervals(report: Report) -> Figure:
    """Every setup's figures with their 95 % intervals, a row each."""
    rows = report["rows"]
    figure = Figure(figsize=(9.0, _MARGIN + _ROW * len(rows)), layout="constrained")
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (name, label) in zip(panels, PANELS.items(), strict=True):
        for shift, (arm, style) in enumerate(ARMS.items()):
            _points(axes, [row[name][arm] for row in rows], style, 0.2 - 0.2 * shift)
        axes.set_xlabel(label)
        axes.grid(axis="x", alpha=0.3)
    panels[0].axvline(1, color="black", linewidth=0.8)
    panels[0].set_yticks(range(len(rows)), [_name(row) for row in rows])
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    machine = report["hardware"]
    figure.suptitle(
        f"{report['model']}, {report['n']} questions, 95 % intervals, "
        f"{machine['gpu'] or machine['cpu']}"
    )
    return figure


def _points(
    axes: Any, figures: Sequence[Report], style: tuple[str, str, str], shift: float
) -> None:
    label, colour, marker = style
    known = [(place, each) for place, each in enumerate(figures) if each["low"] is not None]
    values = [each["value"] for _, each in known]
    # A percentile interval of a ratio need not hold the ratio.
    below = [max(0.0, each["value"] - each["low"]) for _, each in known]
    above = [max(0.0, each["high"] - each["value"]) for _, each in known]
    places = [place - shift for place, _ in known]
    axes.errorbar(
        values,
        places,
        xerr=[below, above],
        fmt=marker,
        color=colour,
        label=label,
        markersize=4,
        capsize=2,
    )


def _name(row: Report) -> str:
    stored = "" if row["store"] == "auto" else f", {row['store']}"
    return f"k={row['k']}, {row['window']}, {row['order']}, tail {row['tail']}{stored}"
