"""What an extractor finds in a turn, before anybody decided to keep it."""

from dataclasses import dataclass, replace
from datetime import date

from agent.records import FactKind


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
    """A fact to add, and the ids of the active facts whose place it takes."""

    candidate: Candidate
    ends: tuple[str, ...] = ()
