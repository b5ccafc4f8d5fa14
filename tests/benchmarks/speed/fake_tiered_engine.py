"""A fake engine with host memory behind its arena, and with a log of its requests."""

from collections.abc import AsyncGenerator

from memory_engine.engines.base import ArenaStats
from memory_engine.engines.fake import FakeEngine
from memory_engine.types import Chunk, Mode, Prompt, Sampling


class FakeTieredEngine(FakeEngine):
    """An engine that promotes the segments a KV request needs, and replies with many words."""

    def __init__(self, *, delay: float = 0.0, loses: int = 0, max_model_len: int = 4096) -> None:
        super().__init__(
            lambda prompt: " ".join("word" for _ in range(64)),
            delay=delay,
            max_model_len=max_model_len,
        )
        self._loses = loses
        self._on_host: dict[str, set[str]] = {}
        self.promotions = 0
        self.asked: list[tuple[Mode, Prompt, Sampling]] = []
        self.in_flight = self.most_in_flight = 0

    async def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        self.asked.append((mode, prompt, sampling))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        if mode is Mode.KV:
            needed = {span.segment_id for span in prompt.spans}
            promoted = self._on_host.get(prompt.owner, set()) & needed
            self.promotions += len(promoted)
            self._on_host.get(prompt.owner, set()).difference_update(promoted)
        try:
            async for chunk in super().generate(prompt, mode, sampling):
                yield chunk
        finally:
            self.in_flight -= 1

    async def demote(self, owner: str) -> int:
        held = self._on_host.setdefault(owner, set())
        held.update(sorted(self.resident(owner))[self._loses :])
        return len(held)

    async def prefetch(self, owner: str) -> int:
        held = self._on_host.pop(owner, set())
        self.promotions += len(held)
        return len(held)

    async def arena(self) -> ArenaStats:
        return ArenaStats(
            segments=sum(len(held) for held in self._resident.values()),
            tokens_used=sum(n for held in self._resident.values() for n in held.values()),
            pinned_segments=0,
            promotions=self.promotions,
        )


async def started(engine: FakeTieredEngine | None = None) -> FakeTieredEngine:
    """A running engine."""
    engine = engine or FakeTieredEngine()
    await engine.start()
    return engine
