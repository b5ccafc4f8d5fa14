"""Which facts are near a question: one exact FAISS index for each owner."""

from collections.abc import Iterator, Sequence

import faiss
import numpy as np

from memory_engine.embedder import Vectors


class FactIndex:
    """Cosine similarity over one owner's facts. Removing really removes."""

    def __init__(self) -> None:
        self._index: faiss.IndexIDMap2 | None = None
        self._numbers: dict[str, int] = {}
        self._fact_ids: dict[int, str] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def add(self, fact_ids: Sequence[str], vectors: Vectors) -> None:
        """Index unit vectors, float32 [len(fact_ids), dimension], under new fact ids."""
        if not fact_ids:
            return
        if self._index is None:
            self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
        numbers = np.arange(self._next, self._next + len(fact_ids), dtype=np.int64)
        self._next += len(fact_ids)
        self._index.add_with_ids(np.ascontiguousarray(vectors), numbers)
        for fact_id, number in zip(fact_ids, numbers.tolist(), strict=True):
            assert fact_id not in self._numbers, f"fact {fact_id} is indexed already"
            self._numbers[fact_id] = number
            self._fact_ids[number] = fact_id

    def remove(self, fact_ids: Sequence[str]) -> None:
        """Take facts out; unknown ids are ignored."""
        numbers = [self._numbers.pop(i) for i in fact_ids if i in self._numbers]
        for number in numbers:
            del self._fact_ids[number]
        if numbers and self._index is not None:
            self._index.remove_ids(faiss.IDSelectorBatch(np.asarray(numbers, dtype=np.int64)))

    def search(self, vector: Vectors, k: int) -> list[tuple[str, float]]:
        """The `k` nearest fact ids and their cosine similarity, best first; vector: [dim]."""
        k = min(k, len(self._numbers))
        if self._index is None or k <= 0:
            return []
        scores, numbers = self._index.search(vector[None], k)
        found = zip(numbers[0].tolist(), scores[0].tolist(), strict=True)
        return [(self._fact_ids[number], float(score)) for number, score in found]
