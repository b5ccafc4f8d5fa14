"""An engine without a model, for tests of everything above the engine."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from memory_engine.engines.base import ArenaStats, EncodeJob, Engine, EngineInfo
from memory_engine.errors import EngineStoppedError
from memory_engine.types import Chunk, Conformance, Mode, Prompt, Sampling, Usage


class FakeEngine(Engine):
    """Answers with `reply(prompt)`, word by word, and keeps segment ids in a set.

    It is sure of every word: a log probability is 0. `delay` is the pause before every word, in
    seconds. `supported=False` plays a model that the conformance gate refuses.
    """

    def __init__(
        self,
        reply: Callable[[Prompt], str] = lambda prompt: f"I read {len(prompt.token_ids)} tokens.",
        *,
        delay: float = 0.0,
        supported: bool = True,
        max_model_len: int = 4096,
        host_tokens: int = 0,
    ) -> None:
        self._reply = reply
        self._delay = delay
        self._supported = supported
        self._max_model_len = max_model_len
        self._host_tokens = host_tokens
        self._resident: dict[str, dict[str, int]] = {}
        self.running = False
        self.aborted = 0
        self.encoded: list[EncodeJob] = []
        self.prefetched: list[str] = []
        self.snapshots: dict[str, dict[str, int]] = {}

    async def start(self) -> None:
        self.running = True
        self.info = EngineInfo(
            model="fake",
            fingerprint="fake-1",
            max_model_len=self._max_model_len,
            device="none",
            arena_tokens=1 << 20,
            kv_bytes_per_token=0,
            versions={},
            host_tokens=self._host_tokens,
        )
        reason = "" if self._supported else "the fake engine was told to refuse"
        self.conformance = Conformance(self._supported, reason)

    async def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        self._require_running()
        injected, missing = 0, []
        for span in prompt.spans if mode is Mode.KV else ():
            if span.segment_id not in self._resident.get(prompt.owner, {}):
                missing.append(span.segment_id)
            elif not missing:
                injected += span.length
        words = self._reply(prompt).split(" ")[: sampling.max_tokens]
        finished = False
        try:
            for number, word in enumerate(words):
                await asyncio.sleep(self._delay)
                self._require_running()
                token = sampling.allowed_tokens[0] if sampling.allowed_tokens else number
                logprobs = ({token: 0.0},) if sampling.logprobs else ()
                yield Chunk(word if number == 0 else f" {word}", (token,), logprobs=logprobs)
            finished = True
        finally:
            self.aborted += not finished
        usage = Usage(len(prompt.token_ids), injected, 0, len(words), tuple(missing))
        yield Chunk("", usage=usage, finish_reason="stop")

    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        self._require_running()
        self.encoded.append(job)
        held = self._resident.setdefault(job.owner, {})
        held.update({span.segment_id: span.length for span in job.spans})
        return tuple(span.segment_id for span in job.spans)

    async def drop(self, owner: str, segment_ids: Sequence[str] | None = None) -> int:
        self._require_running()
        self.snapshots.pop(owner, None)
        held = self._resident.get(owner, {})
        gone = [i for i in (segment_ids if segment_ids is not None else list(held)) if i in held]
        for segment_id in gone:
            del held[segment_id]
        return len(gone)

    async def demote(self, owner: str) -> int:
        self._require_running()
        return 0

    async def prefetch(self, owner: str) -> int:
        self._require_running()
        self.prefetched.append(owner)
        return 0

    async def snapshot(self, owner: str) -> None:
        self._require_running()
        self.snapshots[owner] = dict(self._resident.get(owner, {}))

    async def restore(self, owner: str) -> tuple[str, ...]:
        self._require_running()
        self._resident.setdefault(owner, {}).update(self.snapshots.get(owner, {}))
        return tuple(self._resident[owner])

    async def owned(self, owner: str) -> tuple[str, ...]:
        self._require_running()
        return tuple(self._resident.get(owner, {}))

    async def arena(self) -> ArenaStats:
        self._require_running()
        sizes = [n for held in self._resident.values() for n in held.values()]
        return ArenaStats(len(sizes), sum(sizes), 0)

    def resident(self, owner: str) -> frozenset[str]:
        """Segment ids held for `owner`."""
        return frozenset(self._resident.get(owner, {}))

    async def aclose(self) -> None:
        self.running = False

    def _require_running(self) -> None:
        if not self.running:
            raise EngineStoppedError("The engine is not running: start it first.")
