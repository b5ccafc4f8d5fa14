"""Grounding: checks that the turn says a candidate and that it may be remembered."""

import logging
import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Literal

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.deduplication import deduplicated
from agent.extraction.english.dates import resolve, time_expression
from agent.extraction.english.speech_acts import QUESTION_MARK
from agent.extraction.english.subjects import USER
from agent.extraction.english.tokens import content_words, negations
from agent.extraction.filters import refusal
from agent.text import one_line

PLACEHOLDER = re.compile(
    r"[\[({<]\s*(?:(?:your|user|insert|first|last|full|the)\s?)?[\w' ]{0,12}\bname\s*[\])}>]"
    r"|[\[{<]\s*(?:your|insert|user)\b[^\])}>]{0,30}[\])}>]|\{\{.*?\}\}",
    re.IGNORECASE,
)

log = logging.getLogger(__name__)


def ground(turn: UserTurn, candidates: Sequence[Candidate], zone: tzinfo = UTC) -> list[Candidate]:
    """The candidates that the turn bears out, with their dates. May block for a moment.

    Near-duplicates are deduplicated. `zone` is the user's: "yesterday" is a day there. The log
    tells how many were dropped and why, never what they said.
    """
    kept = []
    for candidate in candidates:
        reason = fault(turn.text, candidate)
        if reason:
            log.info("turn %d: a statement was dropped: %s", turn.id, reason)
        else:
            kept.append(_dated(candidate, turn.said_at, zone))
    return deduplicated(kept)


def fault(message: str, candidate: Candidate) -> str | None:
    """The reason why `message` does not bear out `candidate`, or None.

    The quote must be in the message. Every content word of the text, of the value and of
    another's name must be in the quote, and the text must be negated as often as the quote.
    """
    quote = _comparable(candidate.quote)
    if not quote or not candidate.text or quote not in _comparable(message):
        return "the quote is not in the message"
    spoken = content_words(quote)
    if not content_words(candidate.text) <= spoken:
        return "the text has words of its own"
    if not content_words(candidate.value) <= spoken:
        return "the value has words of its own"
    if candidate.subject != USER and not content_words(candidate.subject) <= spoken:
        return "the subject is not named"
    if negations(candidate.text) != negations(quote):
        return "a negation was lost or added"
    if QUESTION_MARK.search(candidate.quote):
        return "it is a question"
    if PLACEHOLDER.search(candidate.quote):
        return "it is a template"
    return refusal(candidate.quote) or refusal(candidate.text)


def _comparable(text: str) -> str:
    return one_line(text.replace("\u2019", "'")).casefold()


def _dated(candidate: Candidate, said_at: datetime, zone: tzinfo) -> Candidate:
    expression = candidate.time_expression or time_expression(candidate.quote)
    if expression is None or candidate.kind == "stable":
        return candidate.dated(None, expression)
    direction: Literal["past", "future"] = "future" if candidate.kind == "plan" else "past"
    return candidate.dated(resolve(expression, said_at, direction, zone), expression)
