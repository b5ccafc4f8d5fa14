"""The memory engine put together: recall, layout, generation and encoding over one engine."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence

from memory_engine.encoding.fact_encoder import FactEncoder
from memory_engine.encoding.residency import Residency
from memory_engine.encoding.windows import Segmenter, Window
from memory_engine.engines.base import Engine
from memory_engine.generator import ReplyGenerator
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.prompt.layout import Layout, memory_prefix
from memory_engine.retrieval.embedder import Embedder, EmbeddingModel
from memory_engine.retrieval.fact_vectors import FactVectors
from memory_engine.retrieval.retriever import FactRetriever
from memory_engine.types import MemoryFact


class Memory:
    """Facts of many owners, indexed and encoded. One per process; safe on one event loop.

    A reply uses `retriever`, `layout` and `generator`, one after the other; what is here keeps
    index and KV equal to the facts that `sync` was given.

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
        prefix = memory_prefix(tokenizer)
        windows = Segmenter(tokenizer, Window.parse(window), engine.info.fingerprint, prefix)
        self._encoder = FactEncoder(engine, windows)
        self.retriever = FactRetriever(embedder, self._encoder.queue.prefetch)
        self.layout = Layout(tokenizer, windows, self._encoder, engine.info.max_model_len, tail)
        self.generator = ReplyGenerator(engine, self._encoder.queue)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def embedding_model(self) -> EmbeddingModel:
        """The model whose vectors `sync` takes and returns."""
        return self.retriever.embedding_model

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
        async with self._locks[owner]:
            before = set(self.retriever.indexed(owner))
            segments = await self._encoder.segment(owner, facts)
            computed = await self.retriever.index(owner, facts, known)
            if before - {fact.id for fact in facts}:
                self.forget_prompts(owner)
            self._encoder.want(owner, segments)
        return computed

    def holds(self, owner: str) -> bool:
        """Whether `sync` was called for `owner` since the start."""
        return self.retriever.holds(owner)

    def expect_reply(self, owner: str) -> None:
        """Have encoding make room for a reply that will be asked for at once."""
        self._encoder.queue.message(owner)

    def forget_prompts(self, owner: str) -> None:
        """Make what vLLM's prefix cache holds of the owner's prompts unreachable."""
        self.generator.forget_prompts(owner)

    async def forget(self, owner: str) -> None:
        """Hold nothing of `owner` any more: no vector, no KV on any tier, no snapshot.

        Raises EngineError if the engine failed at it.
        """
        self.forget_prompts(owner)
        async with self._locks[owner]:
            self.retriever.empty(owner)
            self._encoder.empty(owner)
            await self._encoder.forget(owner)
            self.retriever.forget(owner)
            self._locks.pop(owner, None)

    async def settle(self, owner: str | None = None) -> None:
        """Wait until background encoding and dropping (of `owner`, or of all) are done.

        Raises EngineError if that failed.
        """
        await self._encoder.queue.settle(owner)

    def indexed(self, owner: str) -> list[str]:
        """The ids of the facts whose vectors are held."""
        return self.retriever.indexed(owner)

    async def astray(self, owner: str) -> list[str]:
        """The ids of the engine's segments of `owner` that no fact held here needs."""
        return await self._encoder.queue.astray(owner)

    async def residency(self, owner: str) -> Residency:
        """The facts of `owner` that are encoded, their bytes, and how full the engine is."""
        return await self._encoder.residency(owner)

    async def aclose(self) -> None:
        """Stop the background work and the engine."""
        await self._encoder.queue.aclose()
        self.retriever.close()
        await self._engine.aclose()
