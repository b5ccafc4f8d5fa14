"""Token F1 of an answer, as LoCoMo scores it (Maharana et al. 2024, arXiv 2402.17753).

Words without case, punctuation and articles, by their Porter stems. A multi-hop question has
several answers with commas: of each the best F1 with any part of the reply, and their mean.
Of an open-domain answer only what stands before the semicolon counts.
"""

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import cache
from statistics import mean

from benchmarks.quality.datasets.locomo import MULTI_HOP, OPEN_DOMAIN

# LoCoMo drops "and" with the articles.
_DROPPED = re.compile(r"\b(?:a|an|the|and)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_f1(reply: str, gold: str, category: int) -> float:
    """Score a reply by token F1 from 0 to 1, as a question of this category is scored."""
    if category == OPEN_DOMAIN:
        gold = gold.split(";")[0].strip()
    if category != MULTI_HOP:
        return token_f1(reply, gold)
    parts = reply.split(",")
    return mean(max(token_f1(part, each) for part in parts) for each in gold.split(","))


def token_f1(reply: str, gold: str) -> float:
    """Compute the harmonic mean of precision and recall of the reply's stems.

    Each stem counts as often as it stands there.
    """
    said, wanted = Counter(_stems(reply)), Counter(_stems(gold))
    same = (said & wanted).total()
    if not same:
        return 0.0
    return 2 * same / (said.total() + wanted.total())


def _stems(text: str) -> list[str]:
    words = _DROPPED.sub(" ", text.lower().translate(_PUNCTUATION)).split()
    return _stemmer()(words)


@cache
def _stemmer() -> Callable[[list[str]], list[str]]:
    import Stemmer

    stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer("porter").stemWords
    return stem
