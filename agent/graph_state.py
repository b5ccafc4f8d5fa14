"""What flows through the two graphs, from node to node."""

from typing import NotRequired, TypedDict

from agent.entities import Fact, UserTurn
from agent.extraction.candidate import Candidate, Change
from agent.request import Request
from memory_engine.types import Plan, Recalled


class ReplyState(TypedDict):
    """A message on its way to its reply. Times are milliseconds."""

    request: Request
    recalled: NotRequired[list[Recalled]]
    recall_ms: NotRequired[float]
    plan: NotRequired[Plan]
    plan_ms: NotRequired[float]
    turn: NotRequired[UserTurn | None]


class RememberState(TypedDict):
    """A user's turn on its way to facts. `version` is that of the facts it was held against."""

    turn: UserTurn
    candidates: NotRequired[list[Candidate]]
    known: NotRequired[list[Fact]]
    changes: NotRequired[list[Change]]
    version: NotRequired[int]
    saved: NotRequired[bool]
