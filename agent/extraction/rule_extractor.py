"""Rule-based extractor: finds statements in English messages without asking a model."""

import asyncio
import logging
from collections.abc import Iterator
from itertools import islice

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.client_tasks import is_client_task
from agent.extraction.english.clauses import clauses
from agent.extraction.english.fact_wording import candidate_of
from agent.extraction.english.sentences import pieces, sentences
from agent.extraction.english.speech_acts import states_nothing
from agent.extraction.english.statements import kind_of, strip_lead_in

LONGEST = 400  # characters of a fact
MOST = 32

log = logging.getLogger(__name__)


class RuleExtractor:
    """Extractor of statements that the user makes in so many words.

    It reads English, one sentence at a time, and leaves other languages alone; a sentence
    whose subject is a pronoun for somebody named earlier ("He is five") is left alone too,
    because alone it says nothing.
    """

    quick = True

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        return await asyncio.to_thread(statements_in, turn.text)


def statements_in(message: str) -> list[Candidate]:
    """The statements in `message`, in order, at most MOST."""
    found = list(islice(_statements(message), MOST + 1))
    if len(found) > MOST:
        log.warning("a message states more than %d things; the first %d are kept", MOST, MOST)
    return found[:MOST]


def _statements(message: str) -> Iterator[Candidate]:
    if is_client_task(message):
        return
    for sentence in sentences(message):
        if states_nothing(sentence):
            continue
        for piece in pieces(strip_lead_in(sentence), LONGEST):
            for statement in clauses(piece):
                if kind := kind_of(statement):
                    yield candidate_of(statement, kind)
