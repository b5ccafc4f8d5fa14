"""State and context of the reply graph."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import NotRequired, TypedDict

from agent.conversations.client_resolver import ClientResolver
from agent.conversations.conversation_store import ConversationStore
from agent.entities import UserTurn
from agent.facts.memory_sync import MemorySync
from agent.reply.accumulator import ReplyAccumulator
from agent.reply_events import ReplyEvent
from agent.request import Request
from memory_engine.protocols import MemoryEngine
from memory_engine.types import Mode, Plan, Recalled, Sampling


class ReplyState(TypedDict):
    """A message on its way to its reply. Times are milliseconds."""

    request: Request
    recalled: NotRequired[list[Recalled]]
    recall_ms: NotRequired[float]
    plan: NotRequired[Plan]
    plan_ms: NotRequired[float]


@dataclass(frozen=True, slots=True)
class ReplyServices:
    """The services that the nodes use, the same for every reply of an agent.

    catch_up: waits until what an owner said before is remembered. remember: queues a turn to
    be remembered. sampling and recall_k: defaults of a request that names none. zone: the
    users' time zone, which decides what "yesterday" is.
    """

    memory: MemoryEngine
    memory_sync: MemorySync
    conversations: ConversationStore
    clients: ClientResolver
    catch_up: Callable[[str], Awaitable[None]]
    remember: Callable[[UserTurn], None]
    sampling: Sampling
    recall_k: int
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """The context of one reply.

    emit: hands an event to whoever reads the reply. started: `time.perf_counter()` when the
    message came.
    """

    services: ReplyServices
    accumulator: ReplyAccumulator
    emit: Callable[[Mode, ReplyEvent], None]
    started: float
