"""Near-duplicates in what one message states: the fuller statement stays."""

import re
from collections.abc import Sequence

from agent.extraction.candidate import Candidate
from agent.extraction.english.tokens import negations, word_set, words

FILLERS = word_set("a an the really very also just so too actually still always quite well and")
CONTRACTIONS = (
    (re.compile(r"\bcan(?:['\u2019]?t|not)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['\u2019]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['\u2019]t\b", re.IGNORECASE), " not"),
    (re.compile(r"['\u2019]m\b", re.IGNORECASE), " am"),
    (re.compile(r"['\u2019]re\b", re.IGNORECASE), " are"),
    (re.compile(r"['\u2019]ve\b", re.IGNORECASE), " have"),
)


def deduplicated(candidates: Sequence[Candidate]) -> list[Candidate]:
    """`candidates` without those that say no more than another one.

    One says no more if its words occur in the other in the same order, fillers aside, with
    as many negations. One that gives an attribute a value is dropped only for another that
    gives the same attribute one.
    """
    kept: list[Candidate] = []
    for candidate in candidates:
        if any(_says_no_more(candidate, other) for other in kept):
            continue
        kept = [k for k in kept if not _says_no_more(k, candidate)]
        kept.append(candidate)
    return kept


def plain_words(text: str) -> list[str]:
    """The words of `text` without fillers, contractions written out."""
    for pattern, full in CONTRACTIONS:
        text = pattern.sub(full, text)
    return [word for word in words(text) if word not in FILLERS]


def _says_no_more(one: Candidate, other: Candidate) -> bool:
    if one.subject != other.subject or negations(one.text) != negations(other.text):
        return False
    if one.attribute and (one.attribute, one.denied) != (other.attribute, other.denied):
        return False
    rest = iter(plain_words(other.text))
    return all(word in rest for word in plain_words(one.text))
