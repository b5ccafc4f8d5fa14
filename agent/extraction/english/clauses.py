"""Division of a sentence into clauses that each stand for themselves."""

import re

from agent.extraction.english.speech_acts import SUPPOSED, is_unsure
from agent.extraction.english.statements import kind_of

JOINT = re.compile(
    r"(?:\s*[,;]\s*(?:(?:and|but|so|though|although)\s+)?"
    r"|\s+(?:and|but|so|though|although|&)\s+)"
    r"(?=(?P<own>(?:(?:now|currently|today|recently)\s+)?(?:i|we|my|our))\b|\w)",
    re.IGNORECASE,
)
OWN = re.compile(r"\b(?:i|we|my|our)\b", re.IGNORECASE)
SHORTEST = 3  # words


def clauses(sentence: str) -> list[str]:
    """The clauses of an English sentence without lead-in, verbatim, in order.

    "I'm Anna and I live in Bern" says two things; "my wife and I live in Bern" one. What is
    unsure is parted from what is not: "I like golf, but I might stop".
    """
    if SUPPOSED.search(sentence) or not OWN.search(sentence):
        return [sentence]
    parts, start = [], 0
    for joint in JOINT.finditer(sentence):
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        if _parts(left, right, own=joint["own"] is not None):
            parts.append(left)
            start = joint.end()
    return [*parts, sentence[start:]]


def _parts(left: str, right: str, *, own: bool) -> bool:
    if kind_of(left) is None:
        return False
    if own and kind_of(right) is not None:
        return True
    return len(left.split()) >= SHORTEST and is_unsure(right)
