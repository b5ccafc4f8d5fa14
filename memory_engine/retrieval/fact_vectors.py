"""Vectors of a fact: of its text and of the turn that said it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_engine.retrieval.embedder import Embedder, Vector
from memory_engine.types import MemoryFact


@dataclass(frozen=True, slots=True)
class FactVectors:
    """Unit vectors, float32 [dimension]. A fact without a source turn has the first only."""

    text: Vector
    source: Vector | None = None

    def cover(self, fact: MemoryFact) -> bool:
        """True if these are all the vectors that `fact` has."""
        return (self.source is None) == (fact.source == "")


async def embed_facts(embedder: Embedder, facts: Sequence[MemoryFact]) -> dict[str, FactVectors]:
    """The vectors of `facts` by fact id. A text that several share is embedded once."""
    texts = list(dict.fromkeys(t for f in facts for t in (f.text, f.source) if t))
    vectors: Mapping[str, Vector] = {}
    if texts:
        vectors = dict(zip(texts, await embedder.embed(texts), strict=True))
    return {f.id: FactVectors(vectors[f.text], vectors.get(f.source)) for f in facts}
