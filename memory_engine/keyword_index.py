"""Texts by their words: BM25 with stemming."""

from collections.abc import Mapping, Sequence

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray


class KeywordIndex:
    """BM25 (Robertson and Zaragoza 2009) over one owner's texts.

    A score depends on all texts, so a change makes the index anew, from words that are kept:
    a text that was taken out leaves nothing behind.
    """

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english")
        self._words: dict[str, list[str]] = {}
        self._scorer: bm25s.BM25 | None = None

    def replace(self, ids: Sequence[str], changed: Mapping[str, str]) -> None:
        """Make `ids`, in this order, what is searched; `changed` has new texts by id."""
        words = dict(zip(changed, self._split(list(changed.values())), strict=True))
        self._words = {i: words[i] if i in words else self._words[i] for i in ids}
        self._scorer = None
        if any(self._words.values()):
            self._scorer = bm25s.BM25()
            self._scorer.index(list(self._words.values()), show_progress=False)

    def scores(self, query: str) -> NDArray[np.float32]:
        """How well each text answers `query`, in the order of the ids; 0 without a word of it."""
        if self._scorer is None:
            return np.zeros(len(self._words), dtype=np.float32)
        words = [w for w in self._split([query])[0] if w in self._scorer.vocab_dict]
        if not words:
            return np.zeros(len(self._words), dtype=np.float32)
        return np.asarray(self._scorer.get_scores(words), dtype=np.float32)

    def _split(self, texts: list[str]) -> list[list[str]]:
        found: list[list[str]] = bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return found
