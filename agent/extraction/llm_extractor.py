"""Model-based extractor: asks the served model, and believes only quotes from the turn."""

import logging
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.client_tasks import is_client_task
from agent.extraction.english.clauses import clauses
from agent.extraction.english.fact_wording import candidate_of
from agent.extraction.english.sentences import holds_words, pieces, sentences
from agent.extraction.english.speech_acts import UNSURE, states_nothing
from agent.extraction.english.statements import kind_of, strip_lead_in
from agent.extraction.english.subjects import USER
from agent.extraction.english.tokens import words
from agent.extraction.extraction_prompts import EXTRACTION
from agent.extraction.extraction_schema import ExtractionAnswer, Statement
from agent.extraction.rule_extractor import statements_in
from agent.extraction.schema_request import ask_with_schema
from memory_engine.errors import EngineError
from memory_engine.protocols import MemoryEngine

PART_CHARACTERS = 1200
PART_SENTENCES = 8  # as many as an answer has statements
LONGEST = 300  # characters of a fact, and of a quote
MAX_TOKENS = 1024
GIVE_UP = 3  # sentences without an answer, where none had one
# There code knows whom an English sentence is about.
FIRST_PERSON = re.compile(r"(?:i|we|my|our)\b", re.IGNORECASE)

log = logging.getLogger(__name__)


class LlmExtractor:
    """Extractor for models that follow a schema and instructions; the smallest cannot.

    The model says where a statement is, whom it is about and of what kind it is. A fact's
    text is the user's whole sentence around the quote, in the user's language, so that no
    quote can lose a negation; attributes and dates are read by code where it can.

    Long messages are asked about in parts. An answer that is cut off, or not valid twice, is
    asked for again with less text; a sentence for which that does not help is read by the
    rules, with a warning. EngineError when no part had an answer.
    """

    quick = False

    def __init__(self, memory: MemoryEngine) -> None:
        self._memory = memory

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        parts = deque(_parts(list(_own(turn.text))))
        found: list[Candidate] = []
        answered = lost = 0
        while parts:
            part = parts.popleft()
            statements = await self._ask(turn.owner, part)
            if statements is not None:
                answered += 1
                found += [c for s in statements for c in _candidates(s, part)]
            elif len(part) > 1:
                half = len(part) // 2
                parts.extendleft((part[half:], part[:half]))
            else:
                lost += 1
                found += statements_in(part[0])
            if lost == GIVE_UP and not answered:
                break
        if lost and not answered:
            raise EngineError("The model's extraction was cut off or not valid.")
        if lost:
            log.warning("turn %d: %d sentences had no valid extraction", turn.id, lost)
        return found

    async def _ask(self, owner: str, part: Sequence[str]) -> list[Statement] | None:
        """The statements that the model finds in `part`, or None without a valid answer."""
        answer = await ask_with_schema(
            self._memory,
            owner,
            EXTRACTION.format(message="\n".join(part)),
            ExtractionAnswer,
            max_tokens=MAX_TOKENS,
            # Less text helps an answer that was cut off, another try does not.
            retry_cut_off=False,
        )
        return None if answer is None else answer.statements


def _own(message: str) -> Iterator[str]:
    """What of `message` may state something, in pieces no longer than a fact."""
    if is_client_task(message):
        return
    for sentence in sentences(message):
        told = strip_lead_in(sentence)
        if holds_words(told) and not states_nothing(told):
            yield from (p for p in pieces(sentence, LONGEST) if holds_words(p))


def _parts(own: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = []
    room = 0
    for sentence in own:
        if not parts or room < len(sentence) or len(parts[-1]) == PART_SENTENCES:
            parts.append([])
            room = PART_CHARACTERS
        parts[-1].append(sentence)
        room -= len(sentence)
    return parts


def _candidates(statement: Statement, part: Sequence[str]) -> Iterator[Candidate]:
    """The candidates for a statement; none where no sentence of the user's holds it."""
    quote = _comparable(statement.quote)
    sentence = next((s for s in part if quote in _comparable(s)), None)
    if sentence is None or len(quote.split()) < 2 or statement.subject == "assistant":
        log.info("a statement was dropped: it is not in one of the user's sentences")
        return
    for told in clauses(strip_lead_in(sentence)):
        clause = _comparable(told)
        if (quote in clause or clause in quote) and not UNSURE.search(told):
            yield _checked(told, statement)


def _checked(told: str, statement: Statement) -> Candidate:
    """The candidate for the words `told`: what code reads there counts before the model."""
    read = kind_of(told)
    candidate = candidate_of(told, statement.kind if read in (None, "stable") else read)
    if candidate.subject == USER and candidate.attribute is None:
        candidate = replace(candidate, **_read_by_model(told, statement))
    expression = statement.time_expression
    return candidate.dated(None, expression if expression and expression in told else None)


def _read_by_model(told: str, statement: Statement) -> dict[str, Any]:
    if statement.subject == "other":
        named = statement.name and _comparable(statement.name) in _comparable(told)
        return (
            {"subject": statement.name.casefold()} if named and not FIRST_PERSON.match(told) else {}
        )
    if statement.attribute == "none" or not statement.value:
        return {}
    denied = statement.polarity == "denied"
    return {"attribute": statement.attribute, "value": statement.value, "denied": denied}


def _comparable(text: str) -> str:
    """The words of `text` alone: a string with a length cannot hold `"` in xgrammar's JSON."""
    return f" {' '.join(words(text))} "
