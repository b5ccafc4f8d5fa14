"""The KV of facts: which segment each fact has, and whether the engine holds it."""

import asyncio
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from memory_engine.encoding.encoding_queue import EncodingQueue
from memory_engine.encoding.residency import Residency, Tier
from memory_engine.encoding.windows import FactSegment, Segmenter
from memory_engine.engines.base import Engine
from memory_engine.types import MemoryFact


class FactEncoder:
    """Keeps the segments of every owner's facts resident on `engine`, in the background.

    windows: the policy of Context-Window Encoding, which names the segments. queue: the work
    that is in progress, and what is believed to be resident.
    """

    def __init__(self, engine: Engine, windows: Segmenter) -> None:
        self._engine = engine
        self._windows = windows
        self.queue = EncodingQueue(engine, windows)
        self._segments: dict[str, dict[str, FactSegment]] = {}

    async def segment(self, owner: str, facts: Sequence[MemoryFact]) -> dict[str, FactSegment]:
        """The segments of `facts` (all active ones, in time order), by fact id."""
        return await asyncio.to_thread(self._windows.segments, owner, facts)

    def want(self, owner: str, segments: dict[str, FactSegment]) -> None:
        """Make `segments` all that is to be resident of `owner`.

        New ones are encoded in the background; those that no fact needs are dropped.
        """
        self._segments[owner] = segments
        self.queue.want(owner, segments.values())

    def segments(self, owner: str) -> Mapping[str, FactSegment]:
        """The segments of the owner's facts, by fact id, in time order."""
        return self._segments.get(owner, {})

    def resident(self, owner: str) -> AbstractSet[str] | None:
        """Ids of the facts believed to be resident; None where the model is not injected."""
        if not self._engine.conformance.supported:
            return None
        held = self.queue.resident(owner)
        return {i for i, s in self.segments(owner).items() if s.segment_id in held}

    def empty(self, owner: str) -> None:
        """Know no fact of `owner` any more; what the engine holds is dropped by `forget`."""
        self._segments[owner] = {}

    async def forget(self, owner: str) -> None:
        """Drop all that the engine has of `owner`, on every tier and on disk."""
        await self.queue.forget(owner)
        self._segments.pop(owner, None)

    async def residency(self, owner: str) -> Residency:
        """The facts of `owner` that are encoded, their bytes, and how full the engine is."""
        info, arena = self._engine.info, await self._engine.arena()
        of_token = info.kv_bytes_per_token
        segments = self.segments(owner) if self._engine.conformance.supported else {}
        held = self.queue.resident(owner)
        encoded = {i: s for i, s in segments.items() if s.segment_id in held}
        on_host = await self._engine.on_host(owner) if encoded and info.host_tokens else ()
        return Residency(
            {i: len(segment.token_ids) * of_token for i, segment in encoded.items()},
            frozenset(i for i, segment in encoded.items() if segment.segment_id in on_host),
            frozenset(segments.keys() - encoded.keys()),
            Tier(arena.tokens_used * of_token, info.arena_tokens * of_token),
            Tier(arena.host_tokens_used * of_token, info.host_tokens * of_token),
        )
