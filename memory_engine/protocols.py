"""The interfaces of the memory engine, as the agent uses it.

    Memory
      retriever: Retriever      finds facts
      layout: PromptLayout      lays out prompts
      generator: Generator      generates from them

`memory_engine.memory.Memory` is built of the real ones; fakes implement the same.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

from memory_engine.encoding.residency import Residency
from memory_engine.retrieval.embedder import EmbeddingModel
from memory_engine.retrieval.fact_vectors import FactVectors
from memory_engine.types import (
    EVERYWHERE,
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


class Retriever(Protocol):
    """Finds the facts that matter to a text."""

    async def recall(
        self,
        owner: str,
        query: str,
        k: int,
        scope: Scope = EVERYWHERE,
        periods: Sequence[Period] = (),
    ) -> list[Recalled]:
        """The `k` facts of `owner` most relevant to `query` in `scope`, best first."""
        ...

    async def nearest(self, owner: str, texts: Sequence[str], count: int) -> list[list[Recalled]]:
        """For each text the `count` facts of `owner` nearest to it by cosine, best first."""
        ...


class PromptLayout(Protocol):
    """Lays out prompts."""

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
        """A plan for `question` behind facts and history; raises MessageTooLongError."""
        ...


class Generator(Protocol):
    """Generates from plans."""

    def stream(self, plan: Plan, mode: Mode, sampling: Sampling) -> AsyncGenerator[Chunk, None]:
        """Stream a reply; closing the iterator aborts the request. Raises EngineError."""
        ...


class MemoryEngine(Protocol):
    """Facts of many owners, indexed and encoded. Safe on one event loop."""

    @property
    def retriever(self) -> Retriever: ...

    @property
    def layout(self) -> PromptLayout: ...

    @property
    def generator(self) -> Generator: ...

    @property
    def embedding_model(self) -> EmbeddingModel:
        """The model whose vectors `sync` takes and returns."""
        ...

    async def sync(
        self,
        owner: str,
        facts: Sequence[MemoryFact],
        known: Mapping[str, FactVectors] | None = None,
    ) -> dict[str, FactVectors]:
        """Make `facts` what is held of `owner`; the vectors that had to be computed."""
        ...

    def holds(self, owner: str) -> bool:
        """Whether `sync` was called for `owner` since the start."""
        ...

    def expect_reply(self, owner: str) -> None:
        """Have encoding make room for a reply that will be asked for at once."""
        ...

    def forget_prompts(self, owner: str) -> None:
        """Make what vLLM's prefix cache holds of the owner's prompts unreachable."""
        ...

    async def forget(self, owner: str) -> None:
        """Hold nothing of `owner` any more. Raises EngineError."""
        ...

    async def settle(self, owner: str | None = None) -> None:
        """Wait until encoding and dropping (of `owner`, or of all) are done."""
        ...

    def indexed(self, owner: str) -> list[str]:
        """The ids of the facts whose vectors are held."""
        ...

    async def astray(self, owner: str) -> list[str]:
        """The ids of the engine's segments of `owner` that no fact held here needs."""
        ...

    async def residency(self, owner: str) -> Residency:
        """The tiers that hold the KV of the owner's facts, and their bytes."""
        ...

    async def aclose(self) -> None:
        """Stop the background work and the engine."""
        ...
