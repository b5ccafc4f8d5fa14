"""Candidates and changes: statements found in a turn, and their effect on known facts."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from agent.entities import FactKind

# `add` a new fact; `update` one that is told in more detail; `supersede` one with its new
# value; `retract` one that is said not to hold; `repeat` what is known: nothing changes.
Operation = Literal["add", "update", "supersede", "retract", "repeat"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement found in a user's turn.

    `quote` is verbatim from the turn, `text` what would be remembered. `attribute` names
    what has one value at a time, `value` is that value. With `denied` the statement says
    that `value` is not (or no longer) the attribute's value. `subject` is whom it is about,
    empty for the user.
    """

    quote: str
    text: str
    attribute: str | None = None
    value: str = ""
    denied: bool = False
    kind: FactKind = "stable"
    time_expression: str | None = None
    when: date | None = None
    subject: str = ""

    def dated(self, when: date | None, expression: str | None) -> "Candidate":
        """The same statement with its date and the words that gave it."""
        return replace(self, when=when, time_expression=expression)


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a statement on the active facts whose ids are in `targets`.

    They end and it takes their place, but for `repeat`, which adds nothing and is one more
    source of its target.
    """

    candidate: Candidate
    targets: tuple[str, ...] = ()
    operation: Operation = "add"
