"""Writer of the figures and plots of docs/scale.md, from reports of capacity and failures.

python -m scripts.figures.scale_figures
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from app.hardware import Hardware
from app.models.dummy_model import SHAPES
from benchmarks.capacity.model_shape import shape_of
from benchmarks.capacity.rates import read_rates, shipped_rates
from benchmarks.capacity.scaling import rates_for
from inferscale.measure.plan_tables import simulation_tables, source, tables
from inferscale.output import ReportTable
from scripts.figures.scale_plots import draw
from scripts.figures.scale_runs import REPORTS, RUNS, SWEEP, SWEPT, command, read, swept
from scripts.fleet_report import REPORT as FAILURES
from scripts.fleet_report import as_markdown as failures
from scripts.readme import ROOT

Report = dict[str, Any]

PAGE = ROOT / "docs" / "scale.md"
TO_COME = "Not simulated yet.\n"
# Measured on two GPUs: what the rule is held against.
MEASURED = ("h200x2-llama-70b", "h200x2-llama-8b")


def rendered(page: str) -> str:
    """Fill the page with the figures of the reports that there are."""
    parts = {"plan": _capacity, "rule": _rule, "fleet": _fleet, "theory": _theory}
    parts |= {"sweep": _sweep, "variants": _variants, "failures": _failures}
    for name, part in parts.items():
        page = _filled(page, name, "\n".join(part()) or TO_COME)
    return page


def _filled(page: str, part: str, block: str) -> str:
    marked = re.compile(rf"(?<=<!-- {part} -->\n).*(?=<!-- end of {part} -->)", re.DOTALL)
    return marked.sub(lambda _: block, page)


def _capacity() -> Iterator[str]:
    report = read("fleet")
    if report is None:
        return
    yield from _command(RUNS["fleet"].removesuffix(" --simulate"))
    yield source(report).replace("\n", ": ") + "\n"
    yield from _markdown(tables(report))


def _rule() -> Iterator[str]:
    """The scaling rule against what was measured, as ratios."""
    rows: list[list[object]] = []
    for name in MEASURED:
        measured = read_rates(REPORTS / f"{name}.json")
        assert measured.model in SHAPES
        scaled = rates_for(shipped_rates(), shape_of(measured.model), measured.tensor_parallel)
        for tokens in (0, 2000, 4000, 8000):
            cells: list[object] = [f"{measured.model} on {measured.tensor_parallel}", f"{tokens:,}"]
            for arm in ("text", "kv", "host"):
                rule, seen = (rates.ttft(arm).at(tokens) for rates in (scaled, measured))
                cells.append(f"{rule:.1f} / {seen:.1f} ({rule / seen:.2f}x)")
            rows.append(cells)
    columns = ["model and GPUs", "tokens of facts", "text", "KV", "KV from host"]
    yield from _markdown([ReportTable("First token in ms: rule / measured", columns, rows)])


def _fleet() -> Iterator[str]:
    for name in ("fleet", "fleet-text", "tight"):
        report = read(name)
        if report is None:
            return
        yield from _command(RUNS[name])
        yield from _markdown(simulation_tables(report["simulation"]))
    yield "![Messages with KV and first tokens, by the minute](benchmarks/scale-loss.png)\n"


def _theory() -> Iterator[str]:
    report = read("fleet")
    if report is None:
        return
    load, encoding = report["load"], report["encoding"]
    simulation = report["simulation"]
    before = simulation["spans"]["before"]
    rows: list[list[object]] = [
        ["messages without KV", f"{load['as_text']:.1%}", f"{before['found']['none']:.1%}"],
        [
            "busiest engine",
            f"{load['arms']['kv']['utilization']:.1%}",
            f"{simulation['busiest']:.1%}",
        ],
        [
            "mean wait, ms",
            f"{load['arms']['kv']['wait_ms']:.1f}",
            f"{before['wait_ms']['mean']:.1f}",
        ],
        [
            "busiest encoder",
            f"{encoding['utilization']:.1%}",
            f"{simulation['encoding']['busiest']:.1%}",
        ],
    ]
    yield from _markdown(
        [ReportTable("The plan and its simulation", ["what", "plan", "simulated"], rows)]
    )


def _sweep() -> Iterator[str]:
    runs = read(SWEEP)
    if runs is None:
        return
    yield from _command(swept(SWEPT[0], "kv"))
    rows = [_row(str(run["engines"]), run["scenario"]["mode"], run, "all") for run in runs]
    yield from _markdown([ReportTable("Half an hour without a loss", ["engines", *_ROW], rows)])
    yield "![Time to first token over engines](benchmarks/scale-engines.png)\n"


def _variants() -> Iterator[str]:
    found = {name: read(name) for name in ("fleet", "disk", "talkative")}
    if None in found.values():
        return
    for name in ("disk", "talkative"):
        yield from _command(RUNS[name])
    rows = [
        _row(name, "kv", report["simulation"], "before" if name == "fleet" else "all")
        for name, report in found.items()
    ]
    yield from _markdown([ReportTable("Variants, on 12 engines", ["fleet", *_ROW], rows)])


def _failures() -> Iterator[str]:
    if not FAILURES.exists():
        yield "Not run yet.\n"
        return
    report = json.loads(FAILURES.read_text(encoding="utf-8"))
    yield f"```bash\n{report['command']}\n```\n"
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    yield f"{Hardware(**report['hardware'])}; {versions} ([report](benchmarks/fleet-cpu.json))\n"
    yield failures(report) + "\n"


_ROW = ["as", "device", "host", "disk", "text", "TTFT median, ms", "p90", "p99"]
_ROW += ["busiest engine", "busiest encoder"]


def _row(name: str, mode: str, simulation: Report, span: str) -> list[object]:
    figures = simulation["spans"][span]
    return [
        name,
        mode,
        *(f"{share:.1%}" for share in figures["found"].values()),
        *(f"{figures['ttft_ms'][figure]:,.1f}" for figure in ("median", "p90", "p99")),
        f"{simulation['busiest']:.1%}",
        f"{simulation['encoding']['busiest']:.1%}",
    ]


def _command(arguments: str) -> Iterator[str]:
    yield f"```bash\n{command(arguments)}\n```\n"


def _markdown(found: Iterable[ReportTable]) -> Iterator[str]:
    for title, columns, rows in found:
        yield f"**{title}**\n"
        yield f"| {' | '.join(columns)} |"
        yield f"|{' --- |' * len(columns)}"
        for row in rows:
            yield f"| {' | '.join(str(cell).strip() for cell in row)} |"
        yield ""


def main() -> None:
    """Write the page and the plots."""
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    losses, sweep = [read(name) for name in ("fleet", "tight")], read(SWEEP)
    if None not in (*losses, sweep):
        runs = [report["simulation"] for report in losses]
        print(*draw(runs, sweep, REPORTS / "scale"), sep="\n")


if __name__ == "__main__":
    main()
