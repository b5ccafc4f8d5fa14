"""Deduplication of the statements of one message: the fuller one stays."""

from collections.abc import Sequence

from agent.extraction.candidate import Candidate
from agent.extraction.english.normalize import REPETITION_FILLERS, normalized_words
from agent.extraction.english.tokens import negations


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


def _says_no_more(one: Candidate, other: Candidate) -> bool:
    if one.subject != other.subject or negations(one.text) != negations(other.text):
        return False
    if one.attribute and (one.attribute, one.denied) != (other.attribute, other.denied):
        return False
    rest = iter(normalized_words(other.text, REPETITION_FILLERS))
    return all(word in rest for word in normalized_words(one.text, REPETITION_FILLERS))
