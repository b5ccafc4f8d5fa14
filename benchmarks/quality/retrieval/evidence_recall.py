"""Recall of evidence by InferScale, by its parts alone, and by Mem0 in the same run."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from agent.extraction.english.periods import periods
from app.composition import Progress
from app.figures import distribution
from benchmarks.quality.datasets.locomo import LocomoConversation
from benchmarks.quality.peers.mem0_peer import ask_mem0
from benchmarks.quality.retrieval.evidence import EvidenceTask, evidence_task, sampled, summary
from benchmarks.quality.retrieval.recall_speed import recall_speed
from memory_engine.retrieval.embedder import Embedder, Vectors
from memory_engine.retrieval.fact_index import FactIndex
from memory_engine.retrieval.fact_vectors import embed_facts
from memory_engine.retrieval.keyword_index import KeywordIndex

CUTOFFS = (5, 10, 20, 50)

Found = dict[str, list[str]]  # ids of facts, best first, by question id

Systems = dict[str, dict[str, Any]]
"""Figures by system: `cosine`, `bm25`, `inferscale` and, if asked for, `mem0`.

Each has `overall` (categories 1 to 4) and `by_category`, with `n`, `recall` and `all_evidence`
by cutoff, each a `value` with `low` and `high` of a 95 % bootstrap over questions. `inferscale`
and `mem0` also have `add_ms` (one fact at a time) and `search_ms` (with embedding the question),
each with `mean`, `median`, `p90` and `p99`; `mem0` has its `version`.
"""


async def measure_retrieval(
    conversations: Sequence[LocomoConversation],
    embedder: Embedder,
    *,
    mem0: tuple[Path, Path] | None = None,
    speed_facts: int = 10_000,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = lambda text: None,
) -> dict[str, Any]:
    """Measure recall of evidence with observations as facts, and the time that it takes.

    mem0: a Python interpreter that has Mem0, and the folder of the same embedding model.
    limit: how many questions, as `sampled` draws them with `seed`; None for all.

    The report: `facts`, `questions`, `cutoffs`, `embedding_model`; `systems`, see `Systems`;
    `speed`, recall among `speed_facts` facts of one owner, see `recall_speed`.
    """
    tasks = [evidence_task(each) for each in conversations]
    if limit is not None:
        tasks = sampled(tasks, limit, seed)
    systems = await _own_systems(tasks, embedder, seed, progress)
    if mem0 is not None:
        progress("Mem0")
        systems["mem0"] = await _mem0(mem0, tasks, embedder, seed)
    questions = [q.text for task in tasks for q in task.questions]
    return {
        "facts": sum(len(task.facts) for task in tasks),
        "questions": len(questions),
        "cutoffs": list(CUTOFFS),
        "embedding_model": embedder.model.id,
        "systems": systems,
        "speed": await recall_speed(embedder, questions, speed_facts, seed),
    }


async def _own_systems(
    tasks: Sequence[EvidenceTask], embedder: Embedder, seed: int, progress: Progress
) -> Systems:
    found: dict[str, Found] = {"cosine": {}, "bm25": {}, "inferscale": {}}
    times: dict[str, list[float]] = {"add_ms": [], "search_ms": []}
    for number, task in enumerate(tasks, start=1):
        progress(f"{task.owner} ({number} of {len(tasks)})")
        vectors = await embedder.embed([fact.text for fact in task.facts])
        await _parts(task, vectors, embedder, found)
        found["inferscale"] |= await _inferscale(task, embedder, times)
    systems = {name: summary(tasks, each, CUTOFFS, seed) for name, each in found.items()}
    systems["inferscale"] |= {name: distribution(samples) for name, samples in times.items()}
    return systems


async def _mem0(
    mem0: tuple[Path, Path], tasks: Sequence[EvidenceTask], embedder: Embedder, seed: int
) -> dict[str, Any]:
    answer = await ask_mem0(*mem0, embedder.model.dimension, tasks, max(CUTOFFS))
    return summary(tasks, answer.found, CUTOFFS, seed) | {
        "version": answer.version,
        "add_ms": distribution(answer.add_ms),
        "search_ms": distribution(answer.search_ms),
    }


async def _parts(
    task: EvidenceTask, vectors: Vectors, embedder: Embedder, found: dict[str, Found]
) -> None:
    """Search by similarity alone and by words alone."""
    ids = [fact.id for fact in task.facts]
    words = KeywordIndex().replaced(ids, {fact.id: fact.text for fact in task.facts})
    asked = await embedder.embed([q.text for q in task.questions])
    for question, vector in zip(task.questions, asked, strict=True):
        for name, scores in (("cosine", vectors @ vector), ("bm25", words.scores(question.text))):
            best = np.argsort(-scores, kind="stable")[: max(CUTOFFS)]
            found[name][question.id] = [ids[place] for place in best]


async def _inferscale(
    task: EvidenceTask, embedder: Embedder, times: dict[str, list[float]]
) -> Found:
    """Search the memory's own index, which gets its facts one at a time."""
    index, found = FactIndex(embedder.model.dimension), Found()
    for number, fact in enumerate(task.facts, start=1):
        began = perf_counter()
        fresh = await embed_facts(embedder, [fact])
        index = await asyncio.to_thread(index.replaced, task.facts[:number], fresh)
        times["add_ms"].append((perf_counter() - began) * 1000)
    for question in task.questions:
        began = perf_counter()
        named = periods(question.text, task.asked_at)
        vector = (await embedder.embed([question.text]))[0]
        recalled = await asyncio.to_thread(
            index.search, question.text, vector, max(CUTOFFS), periods=named
        )
        times["search_ms"].append((perf_counter() - began) * 1000)
        found[question.id] = [each.fact.id for each in recalled]
    return found
