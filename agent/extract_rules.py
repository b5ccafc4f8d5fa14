"""The rule-based extractor: finds statements in English messages without asking a model."""

import asyncio
import logging

from agent.candidate import Candidate
from agent.clauses import clauses
from agent.client_tasks import is_client_task
from agent.moods import states_nothing
from agent.records import UserTurn
from agent.sentences import pieces, sentences
from agent.statements import kind_of, strip_lead_in
from agent.wording import candidate_of

LONGEST = 400  # characters of a fact
MOST = 32

log = logging.getLogger(__name__)


class RuleExtractor:
    """Takes what the user states in so many words, and nothing else.

    It reads English, one sentence at a time, and leaves other languages alone; a sentence
    whose subject is a pronoun for somebody named earlier ("He is five") is left alone too,
    because alone it says nothing.
    """

    quick = True

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        return await asyncio.to_thread(statements_in, turn.text)


def statements_in(message: str) -> list[Candidate]:
    """The statements in `message`, in order, at most MOST."""
    if is_client_task(message):
        return []
    found = [
        candidate_of(statement, kind)
        for sentence in sentences(message)
        if not states_nothing(sentence)
        for piece in pieces(strip_lead_in(sentence), LONGEST)
        for statement in clauses(piece)
        if (kind := kind_of(statement))
    ]
    if len(found) > MOST:
        log.warning("a message states %d things; the first %d are kept", len(found), MOST)
    return found[:MOST]
