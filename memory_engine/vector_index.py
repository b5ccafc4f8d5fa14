"""Vectors by number: an exact FAISS index."""

import faiss
import numpy as np
from numpy.typing import NDArray

from memory_engine.embedder import Vector, Vectors

Numbers = NDArray[np.int64]

_NEAREST = 1000
"""How many are told apart. What is farther away counts as the last of them."""

# A search of one vector takes 0.4 ms in 10,000; threads that wait for each other take longer.
faiss.omp_set_num_threads(1)


class VectorIndex:
    """Cosine similarity over unit vectors. Removing really removes."""

    def __init__(self, dimension: int) -> None:
        self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))

    def add(self, numbers: Numbers, vectors: Vectors) -> None:
        """Index unit vectors, float32 [len(numbers), dimension], under new numbers."""
        self._index.add_with_ids(np.ascontiguousarray(vectors), numbers)

    def remove(self, numbers: Numbers) -> None:
        """Take vectors out."""
        if len(numbers) > 0:
            self._index.remove_ids(faiss.IDSelectorBatch(numbers))

    def similarities(self, vector: Vector, among: Numbers) -> Vector:
        """The cosine similarity of each of `among` to `vector`: float32 [len(among)].

        `among` are indexed numbers; no other vector is looked at.
        """
        count = min(len(among), _NEAREST)
        only, selector = faiss.SearchParameters(), faiss.IDSelectorBatch(among)
        only.sel = selector
        scores, found = self._index.search(vector[None], count, params=only)
        order = np.argsort(among)
        places = order[np.searchsorted(among, found[0], sorter=order)]
        similarities = np.full(len(among), scores[0, -1], dtype=np.float32)
        similarities[places] = scores[0]
        return similarities
