"""docs/evaluation.md and its plots come from reports, and say so while there are none."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from agent.reply_events import Reply, Timings
from benchmarks.quality import answers, end_to_end, fidelity
from benchmarks.quality.arms.arm_runner import ARMS, ArmResults
from benchmarks.quality.arms.cases import Case
from benchmarks.quality.arms.scoring import GreedyReply, ScoredAnswer
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.datasets.locomo import LocomoQuestion
from memory_engine.types import Mode, Usage
from scripts.figures.quality_figures import PAGE, REPORTS, TABLES, TO_COME, rendered
from scripts.figures.quality_plots import FIGURES, draw

EMPTY = "".join(f"<!-- {part} -->\nold\n<!-- end of {part} -->\n" for part in TABLES)
ABOUT: dict[str, Any] = {
    "model": "tiny",
    "dtype": "float32",
    "n": 4,
    "data": "talk.json",
    "seed": 0,
    "seconds": 1.0,
    "hardware": {"gpu": "", "cpu": "a CPU", "cores": 2},
    "versions": {"python": "3.11"},
}
LOSSES = {"none": 3.0, "text": 1.0, "kv": 1.5, "reordered": 1.2, "relevance": 1.3}


def case(number: int) -> Case:
    question = LocomoQuestion(f"locomo_0_qa{number}", "Who?", "Vera", 1 + number % 4, ("D1:1",))
    return Case(question, (), frozenset({"fact"}))


def served(arm: str) -> Reply:
    text, mode = "Olaf" if arm == "none" else "Vera", Mode.KV if arm == "kv" else Mode.TEXT
    return Reply(text, mode, None, "stop", 9.0, 9.0, Timings(1, 1, 1, 1), 9, 5, 0, 4, 2)


def a_report(part: str) -> dict[str, Any]:
    replies = {arm: GreedyReply("Vera", (1, 2), Usage(9, 5)) for arm in ARMS}
    if part == "answers":
        of_answers = [ArmResults(case(number), replies) for number in range(4)]
        rows = [answers.row(Setup(k), of_answers, 0) for k in (20, 50)]
        return ABOUT | {"rows": rows, "reply_tokens": 32, "instruction": "Briefly."}
    if part == "end-to-end":
        answered = [
            end_to_end.AnsweredQuestion(
                case(number).question, {arm: served(arm) for arm in end_to_end.ARMS}
            )
            for number in range(4)
        ]
        made: dict[str, Any] = {"turns": 9, "facts": {"talk Vera": 5}, "remember_seconds": 1.0}
        return ABOUT | made | {"k": 50, "reply_tokens": 32} | end_to_end.figures(answered, 0)
    if part == "retrieval":
        spread = {"mean": 1.0, "median": 1.0, "p90": 2.0, "p99": 3.0}
        share = {"5": {"value": 0.75, "low": 0.5, "high": 1.0}}
        recall = {"n": 4, "recall": share, "all_evidence": share}
        system = {"overall": recall, "by_category": {"temporal": recall}, "search_ms": spread}
        speed = {"facts": 10_000, "search_ms": spread, "recall_ms": spread}
        found = {"facts": 9, "cutoffs": [5], "systems": {"inferscale": system}, "speed": speed}
        return ABOUT | found
    if part == "extraction":
        counts = ("turns", "dialogues", "statements", "found", "facts", "beside", "failed_turns")
        of_persona = {"persona_said": 5, "persona_found": 4}
        shares = {"recall": 0.875, "grounded_precision": 1.0, "missed": {"other": 3}}
        return ABOUT | dict.fromkeys(counts, 7) | of_persona | shares
    scored = {arm: ScoredAnswer(replies[arm], LOSSES[arm], (1,), {1: -0.1}) for arm in ARMS}
    results = [ArmResults(case(number), scored) for number in range(4)]
    setups = [Setup(20), Setup(20, window="none"), Setup(20, store="fp8")]
    rows = [fidelity.row(setup, results, 0) for setup in setups]
    return ABOUT | {"rows": rows, "reply_tokens": 24, "targets": fidelity.judged(rows)}


def test_the_page_is_that_of_the_reports_there_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert rendered(text, REPORTS) == text, "run `make figures`"


def test_without_a_report_a_part_is_not_measured_yet(tmp_path: Path) -> None:
    assert rendered(EMPTY, tmp_path) == EMPTY.replace("old\n", TO_COME)


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ("fidelity", "0.75 [0.75, 0.75]"),
        ("answers", "1.00 [1.00, 1.00]"),
        ("end-to-end", "9 turns became 5 facts"),
        ("retrieval", "0.75 [0.50, 1.00]"),
        ("extraction", "7 (0.875)"),
    ],
)
def test_every_report_of_a_part_is_on_the_page(part: str, shown: str, tmp_path: Path) -> None:
    for device in ("cpu", "gpu"):
        (tmp_path / f"eval-{part}-{device}.json").write_text(json.dumps(a_report(part)))
    page = rendered(EMPTY, tmp_path)
    assert f"(benchmarks/eval-{part}-cpu.json)" in page
    assert f"(benchmarks/eval-{part}-gpu.json)" in page
    assert shown in page
    assert page.count(TO_COME) == len(TABLES) - 1
    assert "None" not in page
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert all(line.endswith(" |") for line in rows)


@pytest.mark.parametrize("part", TABLES)
def test_every_part_is_drawn(part: str, tmp_path: Path) -> None:
    path = tmp_path / f"eval-{part}.png"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(part, a_report(part), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_plot_has_a_row_for_every_setup() -> None:
    axes = FIGURES["fidelity"](a_report("fidelity")).axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [
        "k=20, facts:8, time, tail 3",
        "k=20, none, time, tail 3",
        "k=20, facts:8, time, tail 3, fp8",
    ]
