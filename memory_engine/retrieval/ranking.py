"""Ranks facts for a question: similarities, words and times in one number. Pure.

The weights were chosen on three conversations of LoCoMo and checked on two others
(DECISIONS.md): a sum of scores beats ranks fused by reciprocals.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_engine.types import Period

Scores = NDArray[np.float32]

SOURCE = 0.5
WORDS = 0.4
TIME = 0.3
NEIGHBOUR = 0.2
RECENCY = 0.002

_DAYS_NEAR = 7.0
"""So far from a period, a day still counts 1/e of one within it."""


def relevance(
    text: Scores, source: Scores, words: Scores, days: Scores, periods: Sequence[Period]
) -> Scores:
    """The relevance of each fact, [facts] in time order like all that is given.

    text, source: cosine similarity of the question to the fact and to the turn that said it.
    words: BM25 scores. days: the facts' dates as ordinals, NaN for none. periods: the times
    that the question names.
    """
    own: Scores = (
        text + SOURCE * source + WORDS * _up_to_one(words) + TIME * _nearness(days, periods)
    )
    own += RECENCY * np.linspace(0, 1, len(own), dtype=np.float32)
    own += NEIGHBOUR * _best_neighbour(own)
    return own


def _up_to_one(scores: Scores) -> Scores:
    most = scores.max(initial=0)
    return scores / most if most > 0 else scores


def _nearness(days: Scores, periods: Sequence[Period]) -> Scores:
    """1 within one of the periods, less with every day outside, 0 for a fact without a date."""
    near = np.zeros_like(days)
    for period in periods:
        first, last = period.start.toordinal(), period.end.toordinal()
        outside = np.maximum(0, np.maximum(first - days, days - last))
        near = np.maximum(near, np.nan_to_num(np.exp(-outside / _DAYS_NEAR)))
    return near.astype(np.float32)


def _best_neighbour(scores: Scores) -> Scores:
    """The better of the facts said just before and just after: talk stays with its matter."""
    before, after = np.zeros_like(scores), np.zeros_like(scores)
    before[1:], after[:-1] = scores[:-1], scores[1:]
    return np.maximum(before, after)
