"""The model-based extractor: asks the served model, believes only what it can quote."""

import logging
from collections.abc import Sequence
from contextlib import aclosing
from typing import cast

from pydantic import ValidationError

from agent.attributes import Attribute, attribute_of
from agent.candidate import Candidate
from agent.extracted import Extracted, Statement
from agent.prompts import EXTRACTION
from agent.records import FactKind, UserTurn
from agent.sentences import sentences
from agent.statements import UNSURE, strip_lead_in
from agent.text import one_line
from agent.wording import as_fact
from memory_engine.errors import EngineError
from memory_engine.memory import Memory
from memory_engine.types import Mode, Sampling

PART_CHARACTERS = 1200
MAX_TOKENS = 1024
# The second try is not greedy: a greedy one would fail in the same way.
TEMPERATURES = (0.0, 0.5)
KINDS: dict[str, FactKind] = {"lasting": "stable", "event": "event", "plan": "plan"}

log = logging.getLogger(__name__)


class ModelExtractor:
    """For models that follow a schema and instructions; the smallest cannot.

    A fact's text is the user's whole sentence around the quote, so that no quote can lose a
    negation. Long messages are asked about in parts. An answer that is cut off is asked for
    again with less text; EngineError when that does not help.
    """

    quick = False

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._schema = cast(dict[str, object], Extracted.model_json_schema())

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        own = [s for s in sentences(turn.text) if len(s.split()) > 1 and not s.endswith("?")]
        found = []
        for part in _parts(own):
            found += await self._ask(turn.owner, part)
        return found

    async def _ask(self, owner: str, part: Sequence[str]) -> list[Candidate]:
        for temperature in TEMPERATURES:
            answer, finish_reason = await self._answer(owner, part, temperature)
            if finish_reason == "length":
                break
            try:
                statements = Extracted.model_validate_json(answer).statements
            except ValidationError as error:
                log.warning("an extraction was not valid: %d errors", error.error_count())
            else:
                return [c for s in statements for c in _candidates(s, part)]
        if len(part) < 2:
            raise EngineError("The model's extraction was cut off or not valid.")
        half = len(part) // 2
        return [*await self._ask(owner, part[:half]), *await self._ask(owner, part[half:])]

    async def _answer(
        self, owner: str, part: Sequence[str], temperature: float
    ) -> tuple[str, str | None]:
        question = EXTRACTION.format(message="\n".join(part))
        plan = self._memory.plan(owner, (), (), question, MAX_TOKENS)
        sampling = Sampling(MAX_TOKENS, temperature, json_schema=self._schema)
        stream = self._memory.stream(plan, Mode.TEXT, sampling)
        text, finish_reason = "", None
        async with aclosing(stream) as chunks:
            async for chunk in chunks:
                text += chunk.text
                finish_reason = chunk.finish_reason or finish_reason
        return text, finish_reason


def _parts(own: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = []
    room = 0
    for sentence in own:
        if not parts or room < len(sentence):
            parts.append([])
            room = PART_CHARACTERS
        parts[-1].append(sentence)
        room -= len(sentence)
    return parts


def _candidates(statement: Statement, part: Sequence[str]) -> list[Candidate]:
    """The candidate for a statement, or nothing where no sentence of the user's holds it."""
    sentence = next((s for s in part if _holds(s, statement.quote)), None)
    kind = KINDS.get(statement.kind)
    if sentence is None or kind is None or UNSURE.search(sentence):
        log.info("a statement was dropped: passing, unsure or not in one of the user's sentences")
        return []
    told = strip_lead_in(sentence)
    attribute = attribute_of(told) or _named(statement)
    return [
        Candidate(
            quote=told,
            text=as_fact(told),
            attribute=attribute.key if attribute else None,
            value=attribute.value if attribute else "",
            denied=attribute.denied if attribute else False,
            kind=kind,
            time_expression=statement.when if statement.when in told and statement.when else None,
        )
    ]


def _named(statement: Statement) -> Attribute | None:
    if statement.attribute == "none" or not statement.value:
        return None
    return Attribute(statement.attribute, statement.value, denied=not statement.holds)


def _holds(sentence: str, quote: str) -> bool:
    said, quoted = _comparable(sentence), _comparable(quote)
    return len(quoted.split()) > 1 and quoted in said


def _comparable(text: str) -> str:
    return one_line(text.replace("\u2019", "'")).casefold().rstrip(" .!,;")
