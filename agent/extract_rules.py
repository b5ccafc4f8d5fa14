"""The rule-based extractor: finds statements in English messages without asking a model."""

import asyncio
import logging
import re

from agent.attributes import attribute_of
from agent.candidate import Candidate
from agent.records import UserTurn
from agent.sentences import sentences
from agent.statements import kind_of, strip_lead_in
from agent.wording import as_fact

LONGEST_SENTENCE = 2000
LONGEST = 400
MOST = 32
JOINT = re.compile(r"(?:\s*[,;]\s*(?:and\s+|but\s+)?|\s+(?:and|but)\s+)(?=(?:i|we|my|our)\b)", re.I)

log = logging.getLogger(__name__)


class RuleExtractor:
    """Takes what the user states in so many words, and nothing else.

    It reads English, one sentence at a time; a sentence whose subject is a pronoun for
    somebody named earlier ("He is five") is left alone, because alone it says nothing.
    """

    quick = True

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        return await asyncio.to_thread(statements_in, turn.text)


def statements_in(message: str) -> list[Candidate]:
    """The statements in `message`, in order, at most MOST."""
    found = []
    for sentence in sentences(message):
        if len(sentence) > LONGEST_SENTENCE:
            continue
        for statement in _clauses(strip_lead_in(sentence)):
            kind = kind_of(statement) if len(statement) <= LONGEST else None
            if kind is None:
                continue
            attribute = attribute_of(statement)
            found.append(
                Candidate(
                    quote=statement,
                    text=as_fact(statement),
                    attribute=attribute.key if attribute else None,
                    value=attribute.value if attribute else "",
                    denied=attribute.denied if attribute else False,
                    kind=kind,
                )
            )
    if len(found) > MOST:
        log.warning("a message states %d things; the first %d are kept", len(found), MOST)
    return found[:MOST]


def _clauses(sentence: str) -> list[str]:
    # "I'm Anna and I live in Bern" says two things; "my wife and I live in Bern" one.
    clauses, start = [], 0
    for joint in JOINT.finditer(sentence):
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        if kind_of(left) and kind_of(right):
            clauses.append(left)
            start = joint.end()
    return [*clauses, sentence[start:]]
