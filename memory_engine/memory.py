"""What an owner's facts are to the engine: vectors to recall and KV to inject."""

from collections.abc import AsyncIterator, Sequence

from memory_engine.types import Chunk, MemoryFact, Message, Mode, Plan, Recalled, Sampling


class Memory:
    """Facts of many owners, indexed and encoded. One per process; safe on one event loop."""

    async def sync(self, owner: str, facts: Sequence[MemoryFact]) -> None:
        """Make `facts` (all active ones, in time order) what `owner`'s memory holds.

        Returns when recall sees them. Facts whose window changed are encoded in the
        background; segments that no fact needs any more are dropped.
        """
        raise NotImplementedError

    def holds(self, owner: str) -> bool:
        """Whether `sync` was called for `owner` since the start."""
        raise NotImplementedError

    async def recall(self, owner: str, query: str, k: int) -> list[Recalled]:
        """The `k` facts of `owner` most relevant to `query`, best first. Never another's."""
        raise NotImplementedError

    def plan(
        self,
        owner: str,
        recalled: Sequence[Recalled],
        history: Sequence[Message],
        question: str,
        max_tokens: int,
    ) -> Plan:
        """Lay out the prompt: prefix, facts in time order, exact tail, history, question.

        Raises MessageTooLongError when the question alone does not fit.
        """
        raise NotImplementedError

    def stream(self, plan: Plan, mode: Mode, sampling: Sampling) -> AsyncIterator[Chunk]:
        """Generate from a plan; closing the iterator aborts the request."""
        raise NotImplementedError

    async def settle(self, owner: str | None = None) -> None:
        """Wait until background encoding and dropping (of `owner`, or of all) are done."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Stop the background work and the engine."""
        raise NotImplementedError
