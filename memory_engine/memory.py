"""What an owner's facts are to the engine: vectors to recall and KV to inject."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from memory_engine.embedder import Embedder
from memory_engine.encoding import EncodingQueue
from memory_engine.engines.base import Engine
from memory_engine.index import FactIndex
from memory_engine.layout import Layout, memory_prefix
from memory_engine.tokens import ChatTokenizer
from memory_engine.types import (
    ANYWHERE,
    Chunk,
    MemoryFact,
    Message,
    Mode,
    Plan,
    Recalled,
    Sampling,
    Scope,
)
from memory_engine.windows import Encoder, FactSegment, Window


class _Held:
    """One owner's facts in time order, their vectors and their segments."""

    def __init__(self) -> None:
        self.facts: dict[str, MemoryFact] = {}
        self.index = FactIndex()
        self.segments: dict[str, FactSegment] = {}
        self.lock = asyncio.Lock()


class Memory:
    """Facts of many owners, indexed and encoded. One per process; safe on one event loop.

    engine: started; the memory owns it and its `embedder` from now on. window: the policy
    of Context-Window Encoding, `none`, `facts:N` or `turns:N`. tail: how many of the most
    relevant facts are sent as text, where they are exact.
    """

    def __init__(
        self,
        engine: Engine,
        embedder: Embedder,
        tokenizer: ChatTokenizer,
        *,
        window: str = "facts:8",
        tail: int = 3,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        prefix = memory_prefix(tokenizer)
        fingerprint = engine.info.fingerprint
        self._encoder = Encoder(tokenizer, Window.parse(window), fingerprint, prefix)
        self._layout = Layout(tokenizer, self._encoder, engine.info.max_model_len, tail)
        self._encoding = EncodingQueue(engine, self._encoder)
        self._owners: dict[str, _Held] = {}
        # Part of the prefix-cache salt of a user's requests; a new one leaves behind what
        # the cache holds of their earlier prompts.
        self._salts: dict[str, str] = {}

    async def sync(self, owner: str, facts: Sequence[MemoryFact]) -> None:
        """Make `facts` (all active ones, in time order) what `owner`'s memory holds.

        Returns when recall sees them. Facts whose window changed are encoded in the
        background; segments that no fact needs any more are dropped.
        """
        held = self._owners.setdefault(owner, _Held())
        async with held.lock:
            wanted = {fact.id: fact for fact in facts}
            fresh = [f for f in facts if not _same_text(held.facts.get(f.id), f)]
            vectors = await self._embedder.embed([f.text for f in fresh]) if fresh else None
            segments = await asyncio.to_thread(self._encoder.segments, owner, facts)
            gone = [i for i in held.facts if i not in wanted]
            if gone:
                self.forget_prompts(owner)
            held.index.remove(gone)
            if vectors is not None:
                held.index.remove([f.id for f in fresh])
                held.index.add([f.id for f in fresh], vectors)
            held.facts, held.segments = wanted, segments
            self._encoding.want(owner, segments.values())

    def holds(self, owner: str) -> bool:
        """Whether `sync` was called for `owner` since the start."""
        return owner in self._owners

    async def recall(
        self,
        owner: str,
        query: str,
        k: int,
        scope: Scope = ANYWHERE,
    ) -> list[Recalled]:
        """The `k` facts of `owner` most relevant to `query`, best first. Never another's.

        scope: where it is asked; facts that belong elsewhere are not looked at.
        """
        held = self._owners.get(owner)
        if held is None or k <= 0 or not held.facts:
            return []
        self._encoding.prefetch(owner)
        vector = (await self._embedder.embed([query]))[0]
        seen = {i for i, fact in held.facts.items() if scope.sees(fact)}
        found = held.index.search(vector, k + len(held.facts) - len(seen))
        recalled = [Recalled(held.facts[i], score) for i, score in found if i in seen]
        return recalled[:k]

    async def nearest(self, owner: str, texts: Sequence[str], count: int) -> list[list[Recalled]]:
        """For each text the `count` facts of `owner` nearest to it by cosine, best first."""
        held = self._owners.get(owner)
        if held is None or not texts or not held.facts:
            return [[] for _ in texts]
        vectors = await self._embedder.embed(texts)
        found = [held.index.search(vector, count) for vector in vectors]
        return [[Recalled(held.facts[i], score) for i, score in each] for each in found]

    def plan(
        self,
        owner: str,
        recalled: Sequence[Recalled],
        history: Sequence[Message],
        question: str,
        max_tokens: int,
    ) -> Plan:
        """Lay out the prompt: prefix, facts in time order, history, exact tail, question.

        Raises MessageTooLongError when the question alone does not fit.
        """
        segments = self._owners[owner].segments if owner in self._owners else {}
        known = [r for r in recalled if r.fact.id in segments]
        resident = None
        if self._engine.conformance.supported:
            held = self._encoding.resident(owner)
            resident = {i for i, segment in segments.items() if segment.segment_id in held}
        return self._layout.plan(owner, known, segments, resident, history, question, max_tokens)

    async def stream(
        self, plan: Plan, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        """Generate from a plan; closing the iterator aborts the request.

        Segments that turn out not to be resident are encoded again in the background.
        """
        salt = self._salts.get(plan.prompt.owner, "") + sampling.cache_salt
        sampling = replace(sampling, cache_salt=salt)
        generating = self._engine.generate(plan.prompt, mode, sampling)
        first_token = self._encoding.reply()
        try:
            async with aclosing(generating) as chunks:
                async for chunk in chunks:
                    first_token()
                    if chunk.usage is not None and chunk.usage.missing:
                        self._encoding.lost(plan.prompt.owner, chunk.usage.missing)
                    yield chunk
        finally:
            first_token()

    async def settle(self, owner: str | None = None) -> None:
        """Wait until background encoding and dropping (of `owner`, or of all) are done.

        Raises EngineError if that failed.
        """
        await self._encoding.settle(owner)

    def forget_prompts(self, owner: str) -> None:
        """Make what vLLM's prefix cache holds of the owner's prompts unreachable."""
        self._salts[owner] = secrets.token_hex(8)

    async def forget(self, owner: str) -> None:
        """Hold nothing of `owner` any more: no vector, no KV on any tier, no snapshot.

        Raises EngineError if the engine failed at it.
        """
        self.forget_prompts(owner)
        held = self._owners.setdefault(owner, _Held())
        async with held.lock:
            held.index, held.facts, held.segments = FactIndex(), {}, {}
            await self._encoding.forget(owner)
            self._owners.pop(owner, None)

    def indexed(self, owner: str) -> list[str]:
        """The ids of the facts whose vectors are held."""
        return list(self._owners[owner].index) if owner in self._owners else []

    async def astray(self, owner: str) -> list[str]:
        """The ids of the engine's segments of `owner` that no fact held here needs."""
        return await self._encoding.astray(owner)

    async def aclose(self) -> None:
        """Stop the background work and the engine."""
        await self._encoding.aclose()
        self._embedder.close()
        await self._engine.aclose()


def _same_text(known: MemoryFact | None, fact: MemoryFact) -> bool:
    return known is not None and known.text == fact.text
