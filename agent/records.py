"""What the agent hands out: plain, frozen, without SQL."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

TurnStatus = Literal["complete", "stopped", "failed"]
FactKind = Literal["stable", "event", "plan", "transient"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of one user; the title comes from its first message."""

    id: str
    title: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user's turn that is to be remembered. `said_at` is a UTC instant."""

    id: int
    owner: str
    conversation_id: str
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """Something known about a user, in the user's own words.

    `when` is the date of an event or, without one, the date on which it was said.
    `attribute` names what has one value at a time, such as `home`; otherwise it is None.
    """

    id: str
    text: str
    when: date | None
    created_at: datetime
    kind: FactKind = "stable"
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class FactEvent:
    """What happened to a fact. `text` is None once the fact is forgotten.

    `superseded_by` is the id of the fact that took its place.
    """

    fact_id: str
    kind: Literal["added", "superseded", "forgotten"]
    at: datetime
    text: str | None
    superseded_by: str | None = None
