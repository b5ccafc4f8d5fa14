"""Recall of facts: one index for each owner, over one embedding model."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from memory_engine.retrieval.embedder import Embedder, EmbeddingModel
from memory_engine.retrieval.fact_index import FactIndex
from memory_engine.retrieval.fact_vectors import FactVectors, embed_facts
from memory_engine.types import EVERYWHERE, MemoryFact, Period, Recalled, Scope


class _Indexed:
    """One owner's facts by id, and the index of them."""

    def __init__(self, dimension: int) -> None:
        self.facts: dict[str, MemoryFact] = {}
        self.index = FactIndex(dimension)


class FactRetriever:
    """Indexes facts of many owners and finds those relevant to a question.

    embedder: the retriever owns it. recalling: called with the owner when a recall begins, for
    what can be done while the question is embedded.
    """

    def __init__(self, embedder: Embedder, recalling: Callable[[str], None]) -> None:
        self._embedder = embedder
        self._recalling = recalling
        self._owners: dict[str, _Indexed] = {}

    @property
    def embedding_model(self) -> EmbeddingModel:
        """The model whose vectors `index` takes and returns."""
        return self._embedder.model

    async def index(
        self,
        owner: str,
        facts: Sequence[MemoryFact],
        known: Mapping[str, FactVectors] | None = None,
    ) -> dict[str, FactVectors]:
        """Make `facts` (all active ones, in time order) what recall sees of `owner`.

        known: vectors of `embedding_model` by fact id, which then need not be computed.
        Returns those that were computed. One call an owner at a time.
        """
        held = self._owners.setdefault(owner, _Indexed(self.embedding_model.dimension))
        fresh = [f for f in facts if not _same_text(held.facts.get(f.id), f)]
        vectors = {f.id: known[f.id] for f in fresh if f.id in known} if known else {}
        missing = [f for f in fresh if f.id not in vectors or not vectors[f.id].cover(f)]
        computed = await embed_facts(self._embedder, missing)
        index = await asyncio.to_thread(held.index.replaced, facts, vectors | computed)
        held.index, held.facts = index, {fact.id: fact for fact in facts}
        return computed

    async def recall(
        self,
        owner: str,
        query: str,
        k: int,
        scope: Scope = EVERYWHERE,
        periods: Sequence[Period] = (),
    ) -> list[Recalled]:
        """The `k` facts of `owner` most relevant to `query`, best first; never another owner's.

        scope: where it is asked; facts that belong elsewhere are not looked at. periods: the
        times that the query names; facts of those times come first.
        """
        held = self._owners.get(owner)
        if held is None or k <= 0 or not held.facts:
            return []
        self._recalling(owner)
        vector = (await self._embedder.embed([query]))[0]
        return await asyncio.to_thread(held.index.search, query, vector, k, scope, periods)

    async def nearest(self, owner: str, texts: Sequence[str], count: int) -> list[list[Recalled]]:
        """For each text the `count` facts of `owner` nearest to it by cosine, best first."""
        held = self._owners.get(owner)
        if held is None or not texts or not held.facts:
            return [[] for _ in texts]
        vectors = await self._embedder.embed(texts)
        return [held.index.nearest(vector, count) for vector in vectors]

    def holds(self, owner: str) -> bool:
        """Whether facts of `owner` were indexed since the start."""
        return owner in self._owners

    def indexed(self, owner: str) -> list[str]:
        """The ids of the facts whose vectors are held."""
        return list(self._owners[owner].index) if owner in self._owners else []

    def empty(self, owner: str) -> None:
        """Hold nothing of `owner` but that the owner is known."""
        self._owners[owner] = _Indexed(self.embedding_model.dimension)

    def forget(self, owner: str) -> None:
        """Hold nothing of `owner`."""
        self._owners.pop(owner, None)

    def close(self) -> None:
        """Free the embedding model."""
        self._embedder.close()


def _same_text(known: MemoryFact | None, fact: MemoryFact) -> bool:
    return known is not None and (known.text, known.source) == (fact.text, fact.source)
