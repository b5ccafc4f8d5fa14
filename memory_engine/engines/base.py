"""Interface between InferScale and the runtime of the model."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from memory_engine.connector.protocol.outcome import ArenaStats as ArenaStats
from memory_engine.types import Chunk, Conformance, Mode, Prompt, Sampling, Span


@dataclass(frozen=True, slots=True)
class EncodeJob:
    """A prefill whose KV is kept: `spans` of `token_ids` become resident segments."""

    owner: str
    token_ids: list[int]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Description of a running engine. `fingerprint` changes whenever its KV would.

    `arena_tokens` fit on the device, `host_tokens` in host memory behind it.
    """

    model: str
    fingerprint: str
    max_model_len: int
    device: str
    arena_tokens: int
    kv_bytes_per_token: int
    versions: dict[str, str]
    host_tokens: int = 0


class Engine(ABC):
    """One model that generates from token ids and holds segments' KV.

    Everything is safe to call concurrently from one event loop. Errors are
    `EngineStoppedError` when the engine is gone and `EngineError` otherwise.
    """

    info: EngineInfo
    conformance: Conformance

    @abstractmethod
    async def start(self) -> None:
        """Load the model and run the conformance gate; fills `info` and `conformance`."""

    @abstractmethod
    def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        """Stream a reply; closing the iterator aborts the request.

        In `Mode.KV` the resident ones of `prompt.spans` are injected up to the first
        missing one, the rest is prefilled; in `Mode.TEXT` all is prefilled.
        """

    @abstractmethod
    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        """Prefill `job` and keep its spans; return the segment ids now resident."""

    @abstractmethod
    async def drop(self, owner: str, segment_ids: Sequence[str] | None = None) -> int:
        """Forget these segments of `owner`, or all of them; return how many were resident."""

    @abstractmethod
    async def demote(self, owner: str) -> int:
        """Take the owner's segments off the device, to host memory as far as there is room.

        Returns how many. For who will not ask soon, and for measuring.
        """

    @abstractmethod
    async def prefetch(self, owner: str) -> int:
        """Bring the owner's segments back to the device where there is room; how many."""

    @abstractmethod
    async def snapshot(self, owner: str) -> None:
        """Write the owner's segments to disk, where the engine keeps snapshots."""

    @abstractmethod
    async def restore(self, owner: str) -> tuple[str, ...]:
        """Read back what `snapshot` wrote, if this model did; the ids at hand of the owner's."""

    @abstractmethod
    async def owned(self, owner: str) -> tuple[str, ...]:
        """The ids of the owner's segments, on the device and in host memory."""

    async def on_host(self, owner: str) -> frozenset[str]:
        """The ids of the owner's segments that only host memory holds."""
        return frozenset()

    def home(self, owner: str) -> str:
        """Place of the owner's segments; at another place they are not known to be resident.

        An engine that keeps them until it is closed has one place.
        """
        return ""

    @abstractmethod
    async def arena(self) -> ArenaStats:
        """Counts of the arena's present contents."""

    @abstractmethod
    async def aclose(self) -> None:
        """Stop the engine; generating requests end with `EngineStoppedError`."""
