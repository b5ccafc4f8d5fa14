"""State and context of the remember graph."""

from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import NotRequired, TypedDict

from agent.entities import Fact, UserTurn
from agent.extraction.candidate import Candidate, Change
from agent.extraction.extractor import Extractor
from agent.facts.fact_store import FactStore
from agent.facts.memory_sync import MemorySync
from agent.remember.decider import Decide


class RememberState(TypedDict):
    """A user's turn on its way to facts. `version` is that of the facts it was held against."""

    turn: UserTurn
    candidates: NotRequired[list[Candidate]]
    known: NotRequired[list[Fact]]
    changes: NotRequired[list[Change]]
    version: NotRequired[int]
    saved: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class RememberContext:
    """The services that turn what was said into facts. Without `decide` only rules decide.

    zone: the users' time zone, which decides what "yesterday" is.
    """

    extractor: Extractor
    facts: FactStore
    memory_sync: MemorySync
    decide: Decide | None = None
    zone: tzinfo = UTC
