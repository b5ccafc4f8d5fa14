"""The services that the graphs' nodes use."""

from dataclasses import dataclass
from datetime import UTC, tzinfo

from agent.conversations.conversation_store import ConversationStore
from agent.extraction.extractor import Extractor
from agent.facts.fact_store import FactStore
from agent.facts.memory_sync import MemorySync
from agent.remember.decider import Decide
from memory_engine.memory import Memory
from memory_engine.types import Sampling


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """Services and defaults of one reply. `started` is `time.perf_counter()` at the call.

    `zone` is the user's: what "yesterday" is depends on it.
    """

    memory: Memory
    memory_sync: MemorySync
    conversations: ConversationStore
    sampling: Sampling
    recall_k: int
    started: float
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class RememberContext:
    """Services that turn what was said into facts. Without `decide` only rules decide."""

    extractor: Extractor
    facts: FactStore
    memory_sync: MemorySync
    decide: Decide | None = None
    zone: tzinfo = UTC
