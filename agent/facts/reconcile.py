"""Reconciliation of candidates with known facts: additions, repetitions and replacements. Pure."""

from collections.abc import Sequence
from datetime import datetime

from agent.entities import Fact
from agent.extraction.candidate import Candidate, Change
from agent.extraction.english.tokens import content_words
from agent.facts.known_facts import KnownFacts, statement


def reconcile(
    known: KnownFacts | Sequence[Fact],
    candidates: Sequence[Candidate],
    said_at: datetime,
    turn_id: int | None = None,
) -> list[Change]:
    """The changes that make `candidates`, said at `said_at` by turn `turn_id`, known.

    A statement that is known already repeats; made twice in one message, it counts once. A
    new value of an attribute supersedes the old one; of two values in one message the last
    counts. A denial retracts the fact that states the denied value, and no other; a value
    stated again supersedes its denial. A turn that is remembered late does not replace what
    was said after it.
    """
    known = known if isinstance(known, KnownFacts) else KnownFacts(known)
    changes: list[Change] = []
    targeted: set[str] = set()
    for candidate in _kept(candidates):
        rival = known.rival(candidate)
        late = rival is not None and _was_said_later(rival, said_at, turn_id)
        change = _change(known, candidate, targeted, late=late)
        if change is not None:
            targeted.update(change.targets)
            changes.append(change)
    return changes


def _kept(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without repetitions, and of each attribute's values only the last."""
    once = {statement(c.text): c for c in reversed(candidates)}
    fresh = list(reversed(once.values()))
    last = {(c.subject, c.attribute): c for c in fresh if c.attribute and not c.denied}
    return [c for c in fresh if not c.attribute or c.denied or last[c.subject, c.attribute] is c]


def _was_said_later(fact: Fact, said_at: datetime, turn_id: int | None) -> bool:
    # Clocks are set back, and those of two machines differ: turns have an order of their own.
    if fact.turn_id is not None and turn_id is not None:
        return fact.turn_id > turn_id
    return fact.created_at > said_at


def _change(
    known: KnownFacts, candidate: Candidate, targeted: set[str], *, late: bool
) -> Change | None:
    same, rival = known.same(candidate), known.rival(candidate)
    if same is not None:
        return Change(candidate, (same.id,), "repeat")
    if late:
        return None
    denials = [fact.id for fact in known.denials(candidate) if fact.id not in targeted]
    if rival is None or rival.id in targeted:
        return Change(candidate, tuple(denials), "supersede" if denials else "add")
    if not candidate.denied:
        return Change(candidate, (rival.id, *denials), "supersede")
    denied = content_words(candidate.value)
    if denied and denied <= content_words(rival.text):
        return Change(candidate, (rival.id,), "retract")
    return Change(candidate)
