"""Plain frozen values that the agent hands out, without SQL."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from memory_engine.types import EVERYWHERE, Scope

TurnStatus = Literal["complete", "stopped", "failed"]
FactKind = Literal["stable", "event", "plan", "transient"]
EventKind = Literal[
    "added", "updated", "superseded", "retracted", "expired", "undone", "restored", "forgotten"
]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of one user; the title comes from its first message.

    Without `memory` nothing is recalled in it, and nothing it says is remembered.
    """

    id: str
    title: str
    created_at: datetime
    memory: bool = True


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user's turn that is to be remembered. `said_at` is a UTC instant."""

    id: int
    owner: str
    conversation_id: str
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Denial:
    """The value that a fact says an attribute does not have, or no longer."""

    attribute: str
    value: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact: a sentence known about a user, in the user's own words.

    `when` is the date of an event or, without one, the date on which it was said.
    `attribute` names what has one value at a time, such as `home`; otherwise it is None. It is
    also None where the fact denies an attribute's value: then `denies` has both.
    `subject` is whom it is about, empty for the user. It holds from `valid_from` until
    `valid_to`, UTC instants; None is no end. `turn_id` is the turn that said it; None is by hand.
    """

    id: str
    text: str
    when: date | None
    created_at: datetime
    kind: FactKind = "stable"
    attribute: str | None = None
    subject: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    scope: Scope = EVERYWHERE
    turn_id: int | None = None
    denies: Denial | None = None


@dataclass(frozen=True, slots=True)
class FactEvent:
    """A change of one fact. `text` is None once the fact is forgotten.

    `superseded_by` is the id of the fact that took its place. `valid_from` and `valid_to`
    are the fact's, as they are known now.
    """

    fact_id: str
    kind: EventKind
    at: datetime
    text: str | None
    superseded_by: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
