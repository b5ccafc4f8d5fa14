"""Keyword index: BM25 with stemming."""

import logging
from collections.abc import Mapping, Sequence

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

# It turns its own debug messages on, past whatever level the program has.
logging.getLogger("bm25s").setLevel(logging.WARNING)

Words = dict[str, list[str]]


class KeywordIndex:
    """BM25 (Robertson and Zaragoza 2009) over one owner's texts. Never changes.

    A score depends on all texts, so every change makes another index, from stems that are
    kept; a text that was taken out leaves nothing in it.
    """

    def __init__(self, words: Words | None = None) -> None:
        self._words = words or {}
        self._scorer: bm25s.BM25 | None = None
        if any(self._words.values()):
            self._scorer = bm25s.BM25()
            self._scorer.index(list(self._words.values()), show_progress=False)

    def replaced(self, ids: Sequence[str], changed: Mapping[str, str]) -> "KeywordIndex":
        """An index of `ids`, in this order; `changed` has the texts that are new, by id."""
        new = dict(zip(changed, _stems(list(changed.values())), strict=True))
        return KeywordIndex({i: new[i] if i in new else self._words[i] for i in ids})

    def scores(self, query: str) -> NDArray[np.float32]:
        """BM25 score of each text for `query`, in the order of the ids; 0 without a common word."""
        if self._scorer is not None:
            known = [stem for stem in _stems([query])[0] if stem in self._scorer.vocab_dict]
            if known:
                return np.asarray(self._scorer.get_scores(known), dtype=np.float32)
        return np.zeros(len(self._words), dtype=np.float32)


def _stems(texts: list[str]) -> list[list[str]]:
    # A stemmer of its own: they are not safe to use from two threads.
    stemmer = Stemmer.Stemmer("english")
    found: list[list[str]] = bm25s.tokenize(
        texts, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
    )
    return found
