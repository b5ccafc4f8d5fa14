"""Time of recall: so many facts, and parts that add up."""

import pytest

from benchmarks.quality.retrieval.recall_speed import recall_speed
from memory_engine.retrieval.embedder import Embedder


async def test_speed_is_measured_on_so_many_facts_and_its_parts_add_up(embedder: Embedder) -> None:
    questions = [f"Where is boat {n}?" for n in range(14)]
    speed = await recall_speed(embedder, questions, 300, seed=1)
    assert (speed["facts"], speed["questions"]) == (300, 4)
    parts = speed["embed_ms"]["mean"] + speed["search_ms"]["mean"]
    assert speed["recall_ms"]["mean"] == pytest.approx(parts, abs=0.01)
