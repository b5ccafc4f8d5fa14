"""Similarity of vectors: an exact FAISS index."""

import faiss
import numpy as np
from numpy.typing import NDArray

from memory_engine.retrieval.embedder import Vector, Vectors

_NEAREST = 1000
"""How many are told apart. What is farther away counts as the last of them."""


class VectorIndex:
    """Cosine similarity to unit vectors, float32 [vectors, dimension]. Never changes."""

    def __init__(self, vectors: Vectors) -> None:
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors))

    def vectors(self) -> Vectors:
        """A copy of what is indexed."""
        found: Vectors = self._index.reconstruct_n(0, self._index.ntotal)
        return found

    def similarities(self, vector: Vector, rows: NDArray[np.int64]) -> Vector:
        """Cosine similarity of `vector` to each of `rows`, float32 [rows].

        No other row is looked at, and `rows` may not be empty.
        """
        # A search takes less than threads that wait for each other. OpenMP's number of threads
        # belongs to the calling thread, which may be any of a pool.
        faiss.omp_set_num_threads(1)
        only = None
        if len(rows) < self._index.ntotal:
            only, selector = faiss.SearchParameters(), faiss.IDSelectorBatch(rows)
            only.sel = selector
        count = min(len(rows), _NEAREST)
        scores, found = self._index.search(vector[None], count, params=only)
        similarities = np.full(self._index.ntotal, scores[0, -1], dtype=np.float32)
        similarities[found[0]] = scores[0]
        return similarities[rows]
