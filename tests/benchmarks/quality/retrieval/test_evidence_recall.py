"""Recall of evidence, on a conversation whose figures can be counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.quality.datasets.locomo import ADVERSARIAL, load
from benchmarks.quality.retrieval.evidence import evidence_task, sampled, summary
from benchmarks.quality.retrieval.evidence_recall import measure_retrieval
from benchmarks.quality.retrieval.recall_speed import recall_speed
from memory_engine.retrieval.embedder import Embedder
from tests.benchmarks.quality.datasets.locomo_builder import written


@pytest.fixture(scope="module")
def embedder(bundled_embedder: Path) -> Iterator[Embedder]:
    embedder = Embedder(bundled_embedder)
    yield embedder
    embedder.close()


def test_observations_become_facts_in_time_order_with_the_turns_that_said_them(
    tmp_path: Path,
) -> None:
    task = evidence_task(load(written(tmp_path))[0])
    assert [fact.text for fact in task.facts] == [
        "Vera has a new bike.",
        "Olaf works in a café.",
        "Olaf sold his café, and Vera bought goats.",
        "Vera bought two goats named Pip and Lo.",
    ]
    assert task.facts[2].source == "I sold my café in Köln. I bought two goats, Pip and Lo."
    assert str(task.facts[2].when) == "2024-06-02"
    assert [task.evidence[q.id] for q in task.questions] == [
        {"D10:1"},
        {"D2:1", "D10:2"},
        {"D2:2"},
        {"D2:1"},
    ]


def test_recall_is_the_share_of_covered_evidence_without_adversarial_questions(
    tmp_path: Path,
) -> None:
    task = evidence_task(load(written(tmp_path))[0])
    sold, own, _works, _colour = (q.id for q in task.questions)
    bike, works, both, _goats = (fact.id for fact in task.facts)
    nothing: dict[str, list[str]] = {q.id: [] for q in task.questions}
    report = summary([task], nothing | {sold: [works, both], own: [works, bike]}, (1, 2), seed=0)
    overall = report["overall"]
    assert overall["n"] == 3  # type: ignore[index]
    figures = {
        name: [overall[name][k]["value"] for k in ("1", "2")]  # type: ignore[index]
        for name in ("recall", "all_evidence")
    }
    assert figures == {"recall": [0, 0.5], "all_evidence": [0, round(1 / 3, 4)]}
    by_category = report["by_category"]
    assert list(by_category) == ["multi-hop", "temporal", "single-hop", "adversarial"]  # type: ignore[call-overload]
    assert by_category["multi-hop"]["recall"]["2"]["value"] == 0.5  # type: ignore[index]


async def test_all_ways_are_measured_on_the_same_questions(
    tmp_path: Path, embedder: Embedder
) -> None:
    report = await measure_retrieval(load(written(tmp_path)), embedder, speed_facts=50)
    assert (report["facts"], report["questions"]) == (4, 4)
    assert list(report["systems"]) == ["cosine", "bm25", "inferscale"]
    for figures in report["systems"].values():
        assert figures["overall"]["n"] == 3
        # Four facts are all there are.
        assert figures["overall"]["recall"]["5"] == {"value": 1, "low": 1, "high": 1}
    assert report["systems"]["inferscale"]["search_ms"]["median"] > 0
    assert report["speed"]["facts"] == 50


def test_a_sample_is_the_same_for_a_seed_and_has_nothing_adversarial(tmp_path: Path) -> None:
    task = evidence_task(load(written(tmp_path))[0])

    def drawn(limit: int) -> set[str]:
        (some,) = sampled([task], limit, seed=3)
        assert (some.facts, some.evidence) == (task.facts, task.evidence)
        return {question.id for question in some.questions}

    all_of_them = {q.id for q in task.questions if q.category != ADVERSARIAL}
    assert drawn(9) == all_of_them
    assert drawn(1) < drawn(2) < drawn(3) == all_of_them


async def test_so_many_questions_are_asked_as_the_limit_says(
    tmp_path: Path, embedder: Embedder
) -> None:
    conversation = load(written(tmp_path))
    report = await measure_retrieval(conversation, embedder, speed_facts=50, limit=2)
    assert (report["facts"], report["questions"]) == (4, 2)
    assert report["systems"]["inferscale"]["overall"]["n"] == 2


async def test_speed_is_measured_on_so_many_facts_and_its_parts_add_up(embedder: Embedder) -> None:
    questions = [f"Where is boat {n}?" for n in range(14)]
    speed = await recall_speed(embedder, questions, 300, seed=1)
    assert (speed["facts"], speed["questions"]) == (300, 4)
    parts = speed["embed_ms"]["mean"] + speed["search_ms"]["mean"]
    assert speed["recall_ms"]["mean"] == pytest.approx(parts, abs=0.01)
