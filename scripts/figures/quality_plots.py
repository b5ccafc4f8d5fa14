"""Plots of the reports of `inferscale eval`, with 95 % intervals."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

Report = dict[str, Any]


class Style(NamedTuple):
    """Label, colour and marker of a series, told apart without colours too."""

    label: str
    colour: str
    marker: str


NONE = Style("none", "#666666", "v")
TEXT = Style("text", "#e69f00", "^")
KV = Style("KV", "#0072b2", "D")
REORDERED = Style("text, reordered", "#d55e00", "o")
RELEVANCE = Style("text, by relevance", "#009e73", "s")

ARMS = {"kv": KV, "reordered": REORDERED, "relevance": RELEVANCE}
ANSWERS = {"none": NONE, "text": TEXT} | ARMS
SYSTEMS = {
    "inferscale": Style("InferScale", "#0072b2", "D"),
    "mem0": Style("Mem0", "#d55e00", "o"),
    "cosine": Style("cosine alone", "#009e73", "s"),
    "bm25": Style("BM25 alone", "#e69f00", "^"),
}
PANELS = {
    "retained": "gain of the facts that is retained",
    "forced_agreement": "likeliest tokens as in text",
}
RECALLS = {
    "recall": "share of the evidence found",
    "all_evidence": "questions with all their evidence",
}
_ROW, _MARGIN = 0.32, 1.6  # inches
_STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}


def draw(part: str, report: Report, path: Path) -> None:
    """Write one part's report as a PNG."""
    with mpl.rc_context(_STYLE):
        FIGURES[part](report).savefig(path, dpi=150)


def fidelity(report: Report) -> Figure:
    """Draw the share that KV retains and the agreement of likeliest tokens, by setup."""
    rows = report["rows"]
    figure, panels = _rows([_setup(row) for row in rows], len(PANELS))
    for axes, (name, label) in zip(panels, PANELS.items(), strict=True):
        _arms(axes, [row[name] for row in rows], ARMS)
        axes.set_xlabel(label)
    panels[0].axvline(1, color="black", linewidth=0.8)
    return _titled(figure, panels[0], report)


def answers(report: Report) -> Figure:
    """Draw token F1 of every arm, a panel for every k and a row for every category."""
    rows = report["rows"]
    names = ["all", *rows[0]["categories"]]
    figure, panels = _rows(names, len(rows), height=2 * _ROW, alike=True)
    for axes, row in zip(panels, rows, strict=True):
        found = {"all": row} | row["categories"]
        _arms(axes, [found[name]["f1"] for name in names], ANSWERS)
        axes.set_xlabel(f"token F1, {row['k']} facts")
    return _titled(figure, panels[0], report)


def end_to_end(report: Report) -> Figure:
    """Draw token F1 without facts, with recalled facts as text, and as KV."""
    figure, (axes,) = _rows([""], 1)
    _arms(axes, [report["f1"]], {name: ANSWERS[name] for name in ("none", "text", "kv")})
    axes.set_xlabel(f"token F1, {report['k']} recalled facts at most")
    return _titled(figure, axes, report)


def retrieval(report: Report) -> Figure:
    """Draw the evidence among the first facts found, a line for every system."""
    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    panels = figure.subplots(1, len(RECALLS), sharey=True)
    cutoffs = report["cutoffs"]
    known = {name: style for name, style in SYSTEMS.items() if name in report["systems"]}
    for axes, (figures, label) in zip(panels, RECALLS.items(), strict=True):
        for number, (name, style) in enumerate(known.items()):
            found = report["systems"][name]["overall"][figures]
            estimates = [found[str(k)] for k in cutoffs]
            # Beside each other, or one that finds the same hides another.
            aside = 0.5 * (number - (len(known) - 1) / 2)
            axes.errorbar(
                [k + aside for k in cutoffs],
                [each["value"] for each in estimates],
                yerr=_errors(estimates),
                color=style.colour,
                marker=style.marker,
                label=style.label,
                markersize=4,
                capsize=2,
                linewidth=1,
            )
        axes.set_xlabel("facts recalled")
        axes.set_xticks(cutoffs)
        axes.set_title(label, fontsize=10)
        axes.grid(alpha=0.3)
    return _titled(figure, panels[0], report)


def extraction(report: Report) -> Figure:
    """Draw first-person statements that were found, and why others were not."""
    missed = sorted(report["missed"].items(), key=lambda each: -each[1])
    counts = {"found": report["found"]} | {f"not: {why}": count for why, count in missed}
    figure = Figure(figsize=(9.0, _MARGIN + _ROW * len(counts)), layout="constrained")
    axes = figure.subplots()
    colours = [KV.colour] + [NONE.colour] * len(missed)
    bars = axes.barh(range(len(counts)), list(counts.values()), color=colours)
    shares = [f"{count:,} ({count / report['statements']:.1%})" for count in counts.values()]
    axes.bar_label(bars, shares, padding=3)
    axes.set_yticks(range(len(counts)), list(counts))
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(f"of {report['statements']:,} first-person statements")
    figure.suptitle(f"{report['model']}, {report['n']:,} turns of {report['data']}")
    return figure


FIGURES: dict[str, Callable[[Report], Figure]] = {
    "fidelity": fidelity,
    "answers": answers,
    "end-to-end": end_to_end,
    "retrieval": retrieval,
    "extraction": extraction,
}


def _rows(
    names: Sequence[str], panels: int, *, height: float = _ROW, alike: bool = False
) -> tuple[Figure, list[Any]]:
    """Make a figure with a row for every name, from the top, and so many panels side by side.

    alike: whether the panels have one scale.
    """
    figure = Figure(figsize=(9.0, _MARGIN + height * len(names)), layout="constrained")
    found = list(figure.subplots(1, panels, sharex=alike, sharey=True, squeeze=False)[0])
    for axes in found:
        axes.grid(axis="x", alpha=0.3)
    found[0].set_yticks(range(len(names)), names)
    found[0].set_ylim(len(names) - 0.5, -0.5)
    return figure, found


def _arms(axes: Any, rows: Sequence[Report], styles: dict[str, Style]) -> None:
    """Draw every row's estimates, an arm a little below the other."""
    for number, (arm, style) in enumerate(styles.items()):
        shift = 0.6 * ((number + 1) / (len(styles) + 1) - 0.5)
        known = [(at, row[arm]) for at, row in enumerate(rows) if row[arm]["low"] is not None]
        axes.errorbar(
            [each["value"] for _, each in known],
            [at + shift for at, _ in known],
            xerr=_errors([each for _, each in known]),
            fmt=style.marker,
            color=style.colour,
            label=style.label,
            markersize=4,
            capsize=2,
        )


def _errors(estimates: Sequence[Report]) -> list[list[float]]:
    # A percentile interval of a ratio need not hold the ratio.
    below = [max(0.0, each["value"] - each["low"]) for each in estimates]
    return [below, [max(0.0, each["high"] - each["value"]) for each in estimates]]


def _titled(figure: Figure, axes: Any, report: Report) -> Figure:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    machine = report["hardware"]
    figure.suptitle(
        f"{report['model']}, {report['n']} questions, 95 % intervals, "
        f"{machine['gpu'] or machine['cpu']}"
    )
    return figure


def _setup(row: Report) -> str:
    stored = "" if row["store"] == "auto" else f", {row['store']}"
    return f"k={row['k']}, {row['window']}, {row['order']}, tail {row['tail']}{stored}"
