"""Time of recall for an owner with many facts."""

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from app.figures import distribution
from memory_engine.retrieval.embedder import Embedder
from memory_engine.retrieval.fact_index import FactIndex
from memory_engine.retrieval.fact_vectors import FactVectors
from memory_engine.types import MemoryFact

QUESTIONS = 200
WARM_UP = 10
WORDS_A_TEXT = 15


async def recall_speed(
    embedder: Embedder, questions: Sequence[str], count: int, seed: int
) -> dict[str, Any]:
    """Measure milliseconds to recall 50 of `count` facts: `embed_ms`, `search_ms`, `recall_ms`.

    The facts are made of the questions' words and have random vectors: what they say changes
    nothing in the time a search takes. `add_ms` is adding one fact to the others.
    """
    rng = np.random.default_rng(seed)
    facts = _facts(rng, questions, count)
    made = rng.standard_normal((2 * count, embedder.model.dimension)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    vectors = {
        fact.id: FactVectors(made[2 * place], made[2 * place + 1])
        for place, fact in enumerate(facts)
    }
    last = facts[-1].id
    others = {i: each for i, each in vectors.items() if i != last}
    index = FactIndex(embedder.model.dimension).replaced(facts[:-1], others)
    began = perf_counter()
    index = await asyncio.to_thread(index.replaced, facts, {last: vectors[last]})
    added = (perf_counter() - began) * 1000
    embed, search = [], []
    for question in islice(questions, WARM_UP + QUESTIONS):
        began = perf_counter()
        vector = (await embedder.embed([question]))[0]
        embedded = perf_counter()
        await asyncio.to_thread(index.search, question, vector, 50)
        embed.append((embedded - began) * 1000)
        search.append((perf_counter() - embedded) * 1000)
    dropped = WARM_UP if len(embed) > WARM_UP else 0
    embed, search = embed[dropped:], search[dropped:]
    return {
        "facts": count,
        "questions": len(embed),
        "embed_ms": distribution(embed),
        "search_ms": distribution(search),
        "recall_ms": distribution([sum(both) for both in zip(embed, search, strict=True)]),
        "add_ms": round(added, 3),
    }


def _facts(rng: np.random.Generator, questions: Sequence[str], count: int) -> list[MemoryFact]:
    words = np.asarray(" ".join(questions).split())
    texts = words[rng.integers(len(words), size=(count, 3 * WORDS_A_TEXT))]
    first = date(2020, 1, 1)
    return [
        MemoryFact(
            id=str(number),
            text=" ".join(text[:WORDS_A_TEXT]),
            when=first + timedelta(days=number // 10),
            source=" ".join(text[WORDS_A_TEXT:]),
        )
        for number, text in enumerate(texts.tolist())
    ]
