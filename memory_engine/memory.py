"""What an owner's facts are to the engine: vectors to recall and KV to inject."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from memory_engine.encoding.encoding_queue import EncodingQueue
from memory_engine.encoding.residency import Residency, Tier
from memory_engine.encoding.windows import Encoder, FactSegment, Window
from memory_engine.engines.base import Engine
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.prompt.layout import Layout, memory_prefix
from memory_engine.retrieval.embedder import Embedder, EmbeddingModel
from memory_engine.retrieval.fact_index import FactIndex
from memory_engine.retrieval.fact_vectors import FactVectors, embed_facts
from memory_engine.types import (
    ANYWHERE,
    Chunk,
    MemoryFact,
    Message,
    Mode,
    Period,
    Plan,
    Recalled,
    Sampling,
    Scope,
)


class _Held:
    """One owner's facts in time order, their index and their segments."""

    def __init__(self, dimension: int) -> None:
        self.facts: dict[str, MemoryFact] = {}
        self.index = FactIndex(dimension)
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

    @property
    def embedding_model(self) -> EmbeddingModel:
        """Whose vectors `sync` takes and returns."""
        return self._embedder.model

    async def sync(
        self,
        owner: str,
        facts: Sequence[MemoryFact],
        known: Mapping[str, FactVectors] | None = None,
    ) -> dict[str, FactVectors]:
        """Make `facts` (all active ones, in time order) what `owner`'s memory holds.

        known: vectors of `embedding_model` by fact id, which then need not be computed.
        Returns those that were computed, when recall sees the facts. Facts whose window
        changed are encoded in the background; segments that no fact needs are dropped.
        """
        held = self._owners.setdefault(owner, _Held(self._embedder.model.dimension))
        async with held.lock:
            fresh = [f for f in facts if not _same_text(held.facts.get(f.id), f)]
            vectors = {f.id: known[f.id] for f in fresh if f.id in known} if known else {}
            missing = [f for f in fresh if f.id not in vectors or not vectors[f.id].cover(f)]
            computed = await embed_facts(self._embedder, missing)
            segments = await asyncio.to_thread(self._encoder.segments, owner, facts)
            index = await asyncio.to_thread(held.index.replaced, facts, vectors | computed)
            if set(held.facts) - {fact.id for fact in facts}:
                self.forget_prompts(owner)
            held.index = index
            held.facts, held.segments = {fact.id: fact for fact in facts}, segments
            self._encoding.want(owner, segments.values())
        return computed

    def holds(self, owner: str) -> bool:
        """Whether `sync` was called for `owner` since the start."""
        return owner in self._owners

    def expect_reply(self, owner: str) -> None:
        """A message came: encoding makes room for the reply that will be asked for at once."""
        self._encoding.message(owner)

    async def recall(
        self,
        owner: str,
        query: str,
        k: int,
        scope: Scope = ANYWHERE,
        periods: Sequence[Period] = (),
    ) -> list[Recalled]:
        """The `k` facts of `owner` most relevant to `query`, best first. Never another's.

        scope: where it is asked; facts that belong elsewhere are not looked at. periods: the
        times that the query names; facts of those times come first.
        """
        held = self._owners.get(owner)
        if held is None or k <= 0 or not held.facts:
            return []
        self._encoding.prefetch(owner)
        vector = (await self._embedder.embed([query]))[0]
        return await asyncio.to_thread(held.index.search, query, vector, k, scope, periods)

    async def nearest(self, owner: str, texts: Sequence[str], count: int) -> list[list[Recalled]]:
        """For each text the `count` facts of `owner` nearest to it by cosine, best first."""
        held = self._owners.get(owner)
        if held is None or not texts or not held.facts:
            return [[] for _ in texts]
        vectors = await self._embedder.embed(texts)
        return [held.index.nearest(vector, count) for vector in vectors]

    def plan(
        self,
        owner: str,
        recalled: Sequence[Recalled],
        history: Sequence[Message],
        question: str,
        max_tokens: int,
        *,
        instructions: str = "",
    ) -> Plan:
        """Lay out the prompt: prefix, facts in time order, history, exact tail, question.

        instructions: text for the system message, behind the facts. Raises
        MessageTooLongError when the question alone does not fit beside it.
        """
        segments = self._owners[owner].segments if owner in self._owners else {}
        known = [r for r in recalled if r.fact.id in segments]
        resident = None
        if self._engine.conformance.supported:
            held = self._encoding.resident(owner)
            resident = {i for i, segment in segments.items() if segment.segment_id in held}
        return self._layout.plan(
            owner, known, segments, resident, history, question, max_tokens, instructions
        )

    async def stream(
        self, plan: Plan, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        """Generate from a plan; closing the iterator aborts the request.

        Segments that turn out not to be resident are encoded again in the background.
        """
        salt = self._salts.get(plan.prompt.owner, "") + sampling.cache_salt
        sampling = replace(sampling, cache_salt=salt)
        generating = self._engine.generate(plan.prompt, mode, sampling)
        first_token = self._encoding.reply(plan.prompt.owner)
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
        dimension = self._embedder.model.dimension
        held = self._owners.setdefault(owner, _Held(dimension))
        async with held.lock:
            held.index, held.facts, held.segments = FactIndex(dimension), {}, {}
            await self._encoding.forget(owner)
            self._owners.pop(owner, None)

    def indexed(self, owner: str) -> list[str]:
        """The ids of the facts whose vectors are held."""
        return list(self._owners[owner].index) if owner in self._owners else []

    async def astray(self, owner: str) -> list[str]:
        """The ids of the engine's segments of `owner` that no fact held here needs."""
        return await self._encoding.astray(owner)

    async def residency(self, owner: str) -> Residency:
        """Which facts of `owner` are encoded, their bytes, and how full the engine is."""
        info, arena = self._engine.info, await self._engine.arena()
        of_token = info.kv_bytes_per_token
        segments = self._owners[owner].segments if owner in self._owners else {}
        if not self._engine.conformance.supported:
            segments = {}
        held = self._encoding.resident(owner)
        encoded = {i: s for i, s in segments.items() if s.segment_id in held}
        on_host = await self._engine.on_host(owner) if encoded and info.host_tokens else ()
        return Residency(
            {i: len(segment.token_ids) * of_token for i, segment in encoded.items()},
            frozenset(i for i, segment in encoded.items() if segment.segment_id in on_host),
            frozenset(segments.keys() - encoded.keys()),
            Tier(arena.tokens_used * of_token, info.arena_tokens * of_token),
            Tier(arena.host_tokens_used * of_token, info.host_tokens * of_token),
        )

    async def aclose(self) -> None:
        """Stop the background work and the engine."""
        await self._encoding.aclose()
        self._embedder.close()
        await self._engine.aclose()


def _same_text(known: MemoryFact | None, fact: MemoryFact) -> bool:
    return known is not None and (known.text, known.source) == (fact.text, fact.source)
