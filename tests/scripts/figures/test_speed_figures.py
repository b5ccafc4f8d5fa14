"""docs/performance.md and its plots come from a report, and say so while there is none."""

import warnings
from pathlib import Path
from typing import Any

import pytest

from app.composition import silent
from benchmarks.speed.bench_parts import measure
from benchmarks.speed.targets import judged
from benchmarks.speed.workload import Workload
from scripts.figures.speed_figures import PAGE, STAGES, TO_COME, read_report, rendered, with_stages
from scripts.figures.speed_plots import draw
from tests.benchmarks.speed.fake_tiered_engine import FakeTieredEngine, started

WORKLOAD = Workload(
    ks=(0, 2, 50),
    fact_tokens=5,
    repeats=1,
    host_mib=None,
    fact_lengths=(4,),
    concurrency=(1, 2),
    requests=2,
    output_tokens=(1, 2),
    load_k=2,
    encode_facts=20,
    encode_in_flight=(1,),
    chat_requests=2,
)
ALONE = {
    "copy_gb_per_s": 4000.0,
    "rows": [
        {"k": 50, "tokens": 2032, "gb_per_s": 3400.0, "percent_of_copy": 85.0}
        | {"ms": 0.15, "host_ms": 0.02}
    ],
}


async def a_report(**parts: Any) -> dict[str, Any]:
    engine = await started(FakeTieredEngine(delay=0.001))
    report = await measure(engine, WORKLOAD, list(range(WORKLOAD.tokens_needed)), silent)
    report["seconds"]["all"] = 1.0
    report |= {"bandwidth": None} | parts
    return report | {"targets": judged(report)}


def test_the_page_is_that_of_the_report_there_is() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert rendered(text, read_report()) == text, "run `make figures`"


def test_the_page_has_the_stages_of_a_first_token_as_they_were_measured() -> None:
    text, report = PAGE.read_text(encoding="utf-8"), read_report(STAGES)
    assert report is not None
    assert with_stages(text, report) == text, "run `make figures`"
    assert "| **all** |" in text
    for spans in report["arms"].values():
        stages = sum(ms for name, ms in spans.items() if name != "all" and "gpu" not in name)
        # Medians of parts do not add up to the median of all, but nearly.
        assert stages == pytest.approx(spans["all"], rel=0.05)


def test_without_a_report_the_figures_are_to_come() -> None:
    page = "a\n<!-- figures -->\nold\n<!-- end of figures -->\nb"
    assert rendered(page, None) == f"a\n<!-- figures -->\n{TO_COME}<!-- end of figures -->\nb"


async def test_every_part_of_a_report_is_on_the_page() -> None:
    report = await a_report(bandwidth=ALONE, errors={"other": "no luck"})
    page = rendered("<!-- figures -->\n<!-- end of figures -->", report)
    for part in ("Targets", "Time to first token", "other lengths", "Load", "TPOT", "Encoding"):
        assert part in page
    assert "a copy moves 4,000 GB/s" in page
    assert "**other failed:** no luck" in page
    assert "None" not in page
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert all(line.endswith(" |") for line in rows)


async def test_what_was_not_measured_is_not_on_the_page() -> None:
    report = await a_report(throughput=None, encoding=None, fact_lengths=None)
    page = rendered("<!-- figures -->\n<!-- end of figures -->", report)
    assert "Load" not in page
    assert "Encoding" not in page


async def test_plots_are_drawn_of_what_was_measured(tmp_path: Path) -> None:
    report = await a_report()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = draw(report, tmp_path / "run")
    assert [path.name for path in drawn] == ["run-ttft.png", "run-throughput.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
    old = {"rows": [{**row, "host_ttft_ms": None} for row in report["rows"]], "throughput": None}
    assert [path.name for path in draw(report | old, tmp_path / "old")] == ["old-ttft.png"]
