"""Which facts answer a question: one index for each owner, of vectors, words and times."""

from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np

from memory_engine.embedder import Vector
from memory_engine.fact_vectors import FactVectors
from memory_engine.keyword_index import KeywordIndex
from memory_engine.ranking import relevance
from memory_engine.types import ANYWHERE, MemoryFact, Period, Recalled, Scope
from memory_engine.vector_index import Numbers, VectorIndex


class FactIndex:
    """One owner's facts. Safe to use from several threads; its calls block for milliseconds."""

    def __init__(self, dimension: int) -> None:
        self._texts = VectorIndex(dimension)
        self._sources = VectorIndex(dimension)
        self._words = KeywordIndex()
        self._facts: list[MemoryFact] = []
        self._numbers: dict[str, int] = {}
        self._next = 0
        self._in_order: Numbers = np.empty(0, dtype=np.int64)
        self._days: Vector = np.empty(0, dtype=np.float32)
        self._bound: list[int] = []
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._facts)

    def replace(self, facts: Sequence[MemoryFact], fresh: Mapping[str, FactVectors]) -> None:
        """Make `facts`, in time order, all that is found.

        fresh: the vectors of those that are new, or whose text or source changed, by fact id.
        """
        with self._lock:
            kept = {fact.id for fact in facts} - fresh.keys()
            self._remove([i for i in self._numbers if i not in kept])
            self._add(fresh)
            changed = {f.id: f"{f.text}\n{f.source}" for f in facts if f.id in fresh}
            self._words.replace([fact.id for fact in facts], changed)
            self._facts = list(facts)
            numbers = [self._numbers[fact.id] for fact in facts]
            self._in_order = np.asarray(numbers, dtype=np.int64)
            days = [fact.when.toordinal() if fact.when else np.nan for fact in facts]
            self._days = np.asarray(days, dtype=np.float32)
            self._bound = [place for place, fact in enumerate(facts) if not ANYWHERE.sees(fact)]

    def search(
        self,
        question: str,
        vector: Vector,
        k: int,
        scope: Scope = ANYWHERE,
        periods: Sequence[Period] = (),
    ) -> list[Recalled]:
        """The `k` most relevant facts that `scope` sees, best first; `vector`: [dimension].

        periods: the times that the question names.
        """
        with self._lock:
            hidden = [place for place in self._bound if not scope.sees(self._facts[place])]
            seen = np.delete(np.arange(len(self._facts)), hidden)
            if len(seen) == 0 or k <= 0:
                return []
            numbers = self._in_order[seen]
            scores = relevance(
                self._texts.similarities(vector, numbers),
                self._sources.similarities(vector, numbers),
                self._words.scores(question)[seen],
                self._days[seen],
                periods,
            )
            best = np.argsort(-scores, kind="stable")[:k]
            return [Recalled(self._facts[seen[n]], float(scores[n])) for n in best]

    def _add(self, fresh: Mapping[str, FactVectors]) -> None:
        if not fresh:
            return
        numbers = np.arange(self._next, self._next + len(fresh), dtype=np.int64)
        self._next += len(fresh)
        self._numbers.update(zip(fresh, numbers.tolist(), strict=True))
        each = fresh.values()
        self._texts.add(numbers, np.stack([v.text for v in each]))
        # What was stated by hand is its own source.
        sources = [v.text if v.source is None else v.source for v in each]
        self._sources.add(numbers, np.stack(sources))

    def _remove(self, fact_ids: Sequence[str]) -> None:
        numbers = np.asarray([self._numbers.pop(i) for i in fact_ids], dtype=np.int64)
        self._texts.remove(numbers)
        self._sources.remove(numbers)
