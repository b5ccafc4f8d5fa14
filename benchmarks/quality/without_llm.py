"""Evaluations that need no language model: recall of evidence, and extraction by rules."""

import asyncio
from pathlib import Path
from time import perf_counter
from typing import Any

from agent.extraction.rule_extractor import RuleExtractor
from app.composition import Progress
from app.hardware import hardware, versions
from app.models.model_choice import choose_embedding_model, stay_offline
from app.settings import Settings
from benchmarks.quality.datasets.locomo import load
from benchmarks.quality.eval_session import require_some
from benchmarks.quality.extraction_recall import measure_extraction
from benchmarks.quality.retrieval.evidence_recall import measure_retrieval
from memory_engine.retrieval.embedder import Embedder

# Figures only: a report is committed, and the data is not ours to pass on.
_QUOTES = ("ungrounded", "beside_examples", "missed_examples")


async def run_retrieval(
    settings: Settings,
    data: Path,
    mem0: Path | None,
    limit: int | None,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """Run `measure_retrieval` on LoCoMo's file, and say where the report comes from.

    mem0: a Python interpreter that has Mem0, to be measured in the same run.
    """
    require_some(limit)
    started = perf_counter()
    stay_offline(settings)
    conversations = await asyncio.to_thread(load, data)
    folder = await asyncio.to_thread(choose_embedding_model, settings)
    embedder = await asyncio.to_thread(Embedder, folder)
    peer = (mem0, Path(folder)) if mem0 else None
    try:
        found = await measure_retrieval(
            conversations, embedder, mem0=peer, limit=limit, seed=seed, progress=progress
        )
    finally:
        embedder.close()
    of_data = _about(data, seed, found["questions"], started)
    return of_data | {"model": Path(settings.embedding_model).name or "all-MiniLM-L6-v2"} | found


async def run_extraction(data: Path, limit: int | None, seed: int) -> dict[str, Any]:
    """Run `measure_extraction` with the rule-based extractor, without quotations."""
    require_some(limit)
    started = perf_counter()
    found = await measure_extraction(data, RuleExtractor(), limit, seed)
    figures = {name: value for name, value in found.items() if name not in _QUOTES}
    about = _about(data, seed, found["turns"], started)
    return about | {"model": "rules"} | figures | {"ungrounded": len(found["ungrounded"])}


def _about(data: Path, seed: int, count: int, started: float) -> dict[str, Any]:
    return {
        "dtype": "float32",
        "hardware": hardware().as_json(),
        "versions": versions(),
        "data": data.name,
        "n": count,
        "seed": seed,
        "seconds": round(perf_counter() - started, 1),
    }
