"""Decisions on what a statement does to similar facts: made by a model, checked by rules.

The rules of `reconcile` know attributes; "I had a steak" after "I am vegetarian" needs
somebody who understands. A decision is believed as far as numbers, names and negations allow.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agent.entities import Fact
from agent.extraction.candidate import Change, Operation
from agent.extraction.english.identifiers import may_repeat, may_replace, may_update

NEAREST = 4  # facts shown beside a statement
LOOKED_AT = 20  # of which some belong elsewhere or are taken
NEAR = 0.3  # least cosine similarity to be shown

# Of a user and texts, for each text up to so many facts' ids with their cosine similarity.
Near = Callable[[str, Sequence[str], int], Awaitable[list[list[tuple[str, float]]]]]

# Of a user, changes and the facts they were held against: the changes after a decision.
Decide = Callable[[str, Sequence[Change], Sequence[Fact]], Awaitable[list[Change]]]

MAY: dict[Operation, Callable[[str, str], bool]] = {
    "repeat": may_repeat,
    "update": may_update,
    "supersede": may_replace,
    "retract": may_replace,
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A statement and the facts most similar to it."""

    statement: str
    near: tuple[Fact, ...]


class Decider(Protocol):
    """Decides what statements do to known facts, in one call for all statements of a turn."""

    async def decide(
        self, owner: str, questions: Sequence[Question]
    ) -> Mapping[int, tuple[Operation, str]]:
        """The decisions by a question's number: an operation, and the id of the fact it is done to.

        A question without an answer is a new fact. Raises EngineError.
        """
        ...


async def apply_decisions(
    owner: str, changes: Sequence[Change], known: Sequence[Fact], near: Near, decider: Decider
) -> list[Change]:
    """The changes after the decider has seen those that add something near to what is known."""
    taken = {fact_id for change in changes for fact_id in change.targets}
    facts = {fact.id: fact for fact in known if fact.id not in taken}
    open_ = [n for n, change in enumerate(changes) if change.operation == "add"]
    if not open_ or not facts:
        return list(changes)
    texts = [changes[n].candidate.text for n in open_]
    found = await near(owner, texts, LOOKED_AT)
    shown = [_shown(each, facts) for each in found]
    asked = [(n, Question(t, s)) for n, t, s in zip(open_, texts, shown, strict=True) if s]
    if not asked:
        return list(changes)
    answers = await decider.decide(owner, [question for _, question in asked])
    result = list(changes)
    for number, (n, question) in enumerate(asked):
        if number in answers:
            result[n] = _applied(result[n], question, *answers[number], taken)
            taken.update(result[n].targets)
    return result


def _shown(found: Sequence[tuple[str, float]], facts: Mapping[str, Fact]) -> tuple[Fact, ...]:
    near = [facts[fact_id] for fact_id, score in found if fact_id in facts and score >= NEAR]
    return tuple(near[:NEAREST])


def _applied(
    change: Change, question: Question, operation: Operation, fact_id: str, taken: set[str]
) -> Change:
    fact = next((fact for fact in question.near if fact.id == fact_id), None)
    if operation == "add":
        return change
    if fact is None or fact.id in taken:
        log.warning("a decision was ignored: it names a fact that was not shown, or a second time")
        return change
    candidate = change.candidate
    if candidate.subject != fact.subject or not MAY[operation](candidate.text, fact.text):
        log.info("a decision was ignored: the two statements name different things")
        return change
    return replace(change, operation=operation, targets=(fact.id,))
