"""Index of one owner's facts by vectors, words and times."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from memory_engine.retrieval.embedder import Vector, Vectors
from memory_engine.retrieval.fact_vectors import FactVectors
from memory_engine.retrieval.keyword_index import KeywordIndex
from memory_engine.retrieval.ranking import relevance
from memory_engine.retrieval.vector_index import VectorIndex
from memory_engine.types import EVERYWHERE, MemoryFact, Period, Recalled, Scope


class FactIndex:
    """One owner's facts, none at first. Never changes, so any thread may search it."""

    def __init__(self, dimension: int) -> None:
        nothing = np.empty((0, dimension), dtype=np.float32)
        self._texts, self._sources = VectorIndex(nothing), VectorIndex(nothing)
        self._words = KeywordIndex()
        self._dimension = dimension
        self._set_facts([])

    def __len__(self) -> int:
        return len(self._facts)

    def __iter__(self) -> Iterator[str]:
        return (fact.id for fact in self._facts)

    def replaced(
        self, facts: Sequence[MemoryFact], fresh: Mapping[str, FactVectors]
    ) -> "FactIndex":
        """An index of `facts`, in time order, and of nothing else. Blocks.

        fresh: the vectors of those that are new here, or whose text or source changed, by id.
        """
        made = FactIndex(self._dimension)
        if facts:
            places = {fact.id: place for place, fact in enumerate(self._facts)}
            places |= {fact_id: len(self) + number for number, fact_id in enumerate(fresh)}
            rows = [places[fact.id] for fact in facts]
            each = fresh.values()
            # What was stated by hand is its own source.
            sources = [v.text if v.source is None else v.source for v in each]
            made._texts = _chosen(self._texts, [v.text for v in each], rows)
            made._sources = _chosen(self._sources, sources, rows)
        changed = {f.id: f"{f.text}\n{f.source}" for f in facts if f.id in fresh}
        made._words = self._words.replaced([fact.id for fact in facts], changed)
        made._set_facts(facts)
        return made

    def search(
        self,
        question: str,
        vector: Vector,
        k: int,
        scope: Scope = EVERYWHERE,
        periods: Sequence[Period] = (),
    ) -> list[Recalled]:
        """The `k` most relevant facts that `scope` sees, best first; `vector`: [dimension].

        periods: the times that the question names. Blocks for milliseconds.
        """
        hidden = [place for place in self._bound if not scope.sees(self._facts[place].scope)]
        seen = np.delete(np.arange(len(self._facts)), hidden)
        if len(seen) == 0 or k <= 0:
            return []
        scores = relevance(
            self._texts.similarities(vector, seen),
            self._sources.similarities(vector, seen),
            self._words.scores(question)[seen],
            self._days[seen],
            periods,
        )
        best = np.sort(np.argpartition(-scores, min(k, len(scores)) - 1)[:k])
        best = best[np.argsort(-scores[best], kind="stable")]
        return [Recalled(self._facts[seen[n]], float(scores[n])) for n in best]

    def nearest(self, vector: Vector, count: int) -> list[Recalled]:
        """The `count` facts whose text is nearest by cosine, best first; `vector`: [dimension]."""
        scores = self._texts.similarities(vector, np.arange(len(self._facts)))
        best = np.argsort(-scores, kind="stable")[:count]
        return [Recalled(self._facts[place], float(scores[place])) for place in best]

    def _set_facts(self, facts: Sequence[MemoryFact]) -> None:
        self._facts = list(facts)
        days = [fact.when.toordinal() if fact.when else np.nan for fact in facts]
        self._days = np.asarray(days, dtype=np.float32)
        self._bound = [place for place, fact in enumerate(facts) if not EVERYWHERE.sees(fact.scope)]


def _chosen(index: VectorIndex, more: Sequence[Vector], rows: Sequence[int]) -> VectorIndex:
    """An index of the vectors at `rows`, counted through those of `index` and then `more`."""
    pool: Vectors = np.concatenate([index.vectors(), *(vector[None] for vector in more)])
    return VectorIndex(pool[rows])
