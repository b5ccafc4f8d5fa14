"""Wording of a statement as a fact; the one place to change it."""

import re

from agent.entities import FactKind
from agent.extraction.candidate import Candidate
from agent.extraction.english.attributes import USERS_OWN, attribute_of
from agent.extraction.english.subjects import USER, subject_of
from agent.extraction.english.tokens import UNSPACED
from agent.text import one_line

LONE_I = re.compile(r"\bi(?=[\s,;!?'\u2019]|$)")
# Elsewhere a lone i is a word of its own: Polish "and", Italian "the".
ENGLISH = re.compile(
    r"\b(?:the|and|but|my|am|is|are|was|have|had|live|like|love|work|i'm|i've|to|of|for|with)\b",
    re.IGNORECASE,
)
END = " .!,;:\u2026\u3002\uff01\uff0c\uff1b"
ENDS_UNSPACED = re.compile(rf"[{UNSPACED}]$")


def as_fact(statement: str) -> str:
    """The user's own words as one sentence: a capital first, a full stop last.

    >>> as_fact("my  dog is called Biscuit!!")
    'My dog is called Biscuit.'
    """
    text = one_line(statement).rstrip(END)
    if ENGLISH.search(text):
        text = LONE_I.sub("I", text)
    stop = "\u3002" if ENDS_UNSPACED.search(text) else "."
    return f"{text[:1].upper()}{text[1:]}{stop}" if text else ""


def candidate_of(statement: str, kind: FactKind) -> Candidate:
    """The candidate for a statement in the user's own words, without lead-in.

    What has one value at a time is named where the statement is English.
    """
    found = attribute_of(statement)
    own = found is not None and found.key in USERS_OWN
    return Candidate(
        quote=statement,
        text=as_fact(statement),
        attribute=found.key if found else None,
        value=found.value if found else "",
        denied=found.denied if found else False,
        kind=kind,
        subject=USER if own else subject_of(statement),
    )
