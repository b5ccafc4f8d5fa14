"""Which recall finds the evidence: InferScale's, its parts alone, and Mem0 in the same run."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from agent.extraction.english.periods import periods
from app.figures import distribution
from benchmarks.quality.datasets.locomo import Conversation
from benchmarks.quality.peers.mem0_peer import ask_mem0
from benchmarks.quality.retrieval.evidence import Material, material, sampled, summary
from benchmarks.quality.retrieval.recall_speed import recall_speed
from memory_engine.retrieval.embedder import Embedder, Vectors
from memory_engine.retrieval.fact_index import FactIndex
from memory_engine.retrieval.fact_vectors import embed_facts
from memory_engine.retrieval.keyword_index import KeywordIndex

CUTOFFS = (5, 10, 20, 50)

Found = dict[str, list[str]]


async def measure_retrieval(
    conversations: Sequence[Conversation],
    embedder: Embedder,
    *,
    mem0: tuple[Path, Path] | None = None,
    speed_facts: int = 10_000,
    limit: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Recall of evidence with observations as facts, and what finding it takes.

    mem0: a Python interpreter that has Mem0, and the folder of the same embedding model.
    limit: how many questions, as `sampled` draws them with `seed`; None for all.

    The report: `facts`, `questions`, `cutoffs`, `embedding_model`; `systems` by name
    (`cosine`, `bm25`, `inferscale` and, if asked for, `mem0`), each with `overall` (categories
    1 to 4) and `by_category`, which have `n`, `recall` and `all_evidence` by cutoff, each a
    `value` with `low` and `high` of a 95 % bootstrap over questions; `inferscale` and `mem0`
    also have `add_ms` (one fact at a time) and `search_ms` (with embedding the question), each
    with `mean`, `median`, `p90` and `p99`; `mem0` has its `version`. `speed` is recall among
    `speed_facts` facts of one owner, see `recall_speed`.
    """
    materials = [material(each) for each in conversations]
    if limit is not None:
        materials = sampled(materials, limit, seed)
    found: dict[str, Found] = {"cosine": {}, "bm25": {}, "inferscale": {}}
    times: dict[str, list[float]] = {"add_ms": [], "search_ms": []}
    for number, m in enumerate(materials, start=1):
        progress(f"{m.owner} ({number} of {len(materials)})")
        vectors = await embedder.embed([fact.text for fact in m.facts])
        await _parts(m, vectors, embedder, found)
        found["inferscale"] |= await _inferscale(m, embedder, times)
    systems = {name: summary(materials, each, CUTOFFS, seed) for name, each in found.items()}
    systems["inferscale"] |= {name: distribution(samples) for name, samples in times.items()}
    if mem0 is not None:
        progress("Mem0")
        answer = await ask_mem0(*mem0, embedder.model.dimension, materials, max(CUTOFFS))
        systems["mem0"] = summary(materials, answer.found, CUTOFFS, seed) | {
            "version": answer.version,
            "add_ms": distribution(answer.add_ms),
            "search_ms": distribution(answer.search_ms),
        }
    questions = [q.text for m in materials for q in m.questions]
    return {
        "facts": sum(len(m.facts) for m in materials),
        "questions": len(questions),
        "cutoffs": list(CUTOFFS),
        "embedding_model": embedder.model.id,
        "systems": systems,
        "speed": await recall_speed(embedder, questions, speed_facts, seed),
    }


async def _parts(
    m: Material, vectors: Vectors, embedder: Embedder, found: dict[str, Found]
) -> None:
    """What similarity alone and words alone find."""
    ids = [fact.id for fact in m.facts]
    words = KeywordIndex().replaced(ids, {fact.id: fact.text for fact in m.facts})
    asked = await embedder.embed([q.text for q in m.questions])
    for question, vector in zip(m.questions, asked, strict=True):
        for name, scores in (("cosine", vectors @ vector), ("bm25", words.scores(question.text))):
            best = np.argsort(-scores, kind="stable")[: max(CUTOFFS)]
            found[name][question.id] = [ids[place] for place in best]


async def _inferscale(m: Material, embedder: Embedder, times: dict[str, list[float]]) -> Found:
    """What the memory's own index finds, which gets its facts one at a time."""
    index, found = FactIndex(embedder.model.dimension), Found()
    for number, fact in enumerate(m.facts, start=1):
        began = perf_counter()
        fresh = await embed_facts(embedder, [fact])
        index = await asyncio.to_thread(index.replaced, m.facts[:number], fresh)
        times["add_ms"].append((perf_counter() - began) * 1000)
    for question in m.questions:
        began = perf_counter()
        named = periods(question.text, m.asked_at)
        vector = (await embedder.embed([question.text]))[0]
        recalled = await asyncio.to_thread(
            index.search, question.text, vector, max(CUTOFFS), periods=named
        )
        times["search_ms"].append((perf_counter() - began) * 1000)
        found[question.id] = [each.fact.id for each in recalled]
    return found
