"""Recall of evidence by all systems, on a conversation of four facts."""

from pathlib import Path

from benchmarks.quality.datasets.locomo import load
from benchmarks.quality.retrieval.evidence_recall import measure_retrieval
from memory_engine.retrieval.embedder import Embedder
from tests.benchmarks.quality.datasets.locomo_builder import written


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


async def test_so_many_questions_are_asked_as_the_limit_says(
    tmp_path: Path, embedder: Embedder
) -> None:
    conversation = load(written(tmp_path))
    report = await measure_retrieval(conversation, embedder, speed_facts=50, limit=2)
    assert (report["facts"], report["questions"]) == (4, 2)
    assert report["systems"]["inferscale"]["overall"]["n"] == 2
