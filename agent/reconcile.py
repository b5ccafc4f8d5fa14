"""What is new in what was said, given what is known. Pure."""

from collections.abc import Sequence
from datetime import datetime

from agent.candidate import Candidate, Change
from agent.records import Fact
from agent.text import same_as
from agent.words import content_words


def reconcile(
    known: Sequence[Fact], candidates: Sequence[Candidate], said_at: datetime
) -> list[Change]:
    """The changes that make `candidates`, said at `said_at`, known.

    A statement that is known already, or was made twice, changes nothing. A new value of
    an attribute ends the fact with the old one; of two values in one message the last
    counts. A denial ends the fact that states the denied value, and no other. A turn that
    is remembered late does not replace what was said after it.
    """
    seen = {same_as(fact.text) for fact in known}
    fresh: list[Candidate] = []
    for candidate in candidates:
        if same_as(candidate.text) in seen:
            continue
        seen.add(same_as(candidate.text))
        fresh.append(candidate)
    last = {c.attribute: c for c in fresh if c.attribute and not c.denied}
    newer = {fact.attribute for fact in known if fact.created_at > said_at}
    kept = [
        c
        for c in fresh
        if not c.attribute or (c.attribute not in newer and (c.denied or last[c.attribute] is c))
    ]
    ended: set[str] = set()
    changes = []
    for candidate in kept:
        ends = tuple(f.id for f in known if f.id not in ended and _replaces(candidate, f))
        ended.update(ends)
        changes.append(Change(candidate, ends))
    return changes


def _replaces(candidate: Candidate, fact: Fact) -> bool:
    if candidate.attribute is None or candidate.attribute != fact.attribute:
        return False
    if not candidate.denied:
        return True
    denied = content_words(candidate.value)
    return bool(denied) and denied <= content_words(fact.text)
