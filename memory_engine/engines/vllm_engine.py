"""Base of the engines whose vLLM has the InferScale connector, wherever it runs."""

import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, NamedTuple

from memory_engine.connector.protocol.outcome import (
    Outcome,
    read_arena_stats,
    read_injection,
    version_error,
)
from memory_engine.connector.protocol.params import (
    demote_params,
    drop_params,
    encode_params,
    inject_params,
    list_params,
    prefetch_params,
    restore_params,
    snapshot_params,
    stats_params,
)
from memory_engine.engines.base import ArenaStats, EncodeJob, Engine, EngineInfo
from memory_engine.engines.cache_salt import encode_salt, prompt_salt
from memory_engine.engines.conformance import run_gate
from memory_engine.errors import EngineError
from memory_engine.types import Chunk, Mode, Prompt, Sampling, Span

_log = logging.getLogger(__name__)


class Output(NamedTuple):
    """A piece of a request's reply; the last one has usage and the connector's outcome."""

    chunk: Chunk
    outcome: Outcome


class VllmEngine(Engine):
    """An engine whose vLLM is reached by `request`; all else is the same for all of them."""

    @abstractmethod
    def request(
        self,
        owner: str,
        token_ids: list[int],
        salt: str,
        params: dict[str, object] | None,
        sampling: Sampling,
    ) -> AsyncGenerator[Output, None]:
        """Send one request; closing the generator aborts it.

        params: what is asked of the connector, not signed yet. The last chunk has usage
        whose injected and missing are left to the caller.
        """

    async def fetch_description(self) -> dict[str, Any]:
        """Ask the connector for the description of the running engine and its arena's counts."""
        outcome = await self._outcome("", stats_params())
        engine: dict[str, Any] = outcome.get("engine", {})
        return engine | {"arena": outcome["arena"]}

    async def inspect(self) -> None:
        """Fill `info` and `conformance`: ask the running engine, and run the gate on it."""
        found = await self.fetch_description()
        capacity = int(found["arena"].get("capacity", 0))
        self._keeps_snapshots = bool(found["keeps_snapshots"])
        self.info = EngineInfo(
            model=str(found["model"]),
            fingerprint=str(found["fingerprint"]),
            max_model_len=int(found["max_model_len"]),
            device=str(found["device"]),
            arena_tokens=capacity,
            kv_bytes_per_token=int(found["arena_bytes"]) // capacity if capacity else 0,
            versions=dict(found["versions"]),
            host_tokens=int(found["arena"].get("host_capacity", 0)),
        )
        fp8 = found["store_dtype"] == "fp8"
        self.conformance = await run_gate(
            self, int(found["vocab_size"]), str(found["dtype"]), fp8=fp8
        )

    def adopt(self, other: "VllmEngine") -> None:
        """Take over `info` and `conformance` of `other`, a line to an engine of the same model."""
        self.info, self.conformance = other.info, other.conformance
        self._keeps_snapshots = other._keeps_snapshots

    async def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        room = self.info.max_model_len - len(prompt.token_ids)
        if 0 < room < sampling.max_tokens:
            # vLLM cuts such a reply short, and its server refuses to begin it.
            sampling = replace(sampling, max_tokens=room)
        kv = mode is Mode.KV and bool(prompt.spans) and self.conformance.supported
        params = inject_params(prompt.owner, prompt.spans) if kv else None
        salt = prompt_salt(prompt.owner, params, sampling.cache_salt)
        outputs = self.request(prompt.owner, prompt.token_ids, salt, params, sampling)
        async with aclosing(outputs):
            async for chunk, outcome in outputs:
                yield _with_outcome(chunk, outcome, prompt.spans)

    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        params = encode_params(job.owner, job.spans)
        salt = encode_salt(job.owner)
        outcome = await self._outcome(job.owner, params, job.token_ids, salt)
        return tuple(outcome["saved"])

    async def drop(self, owner: str, segment_ids: Sequence[str] | None = None) -> int:
        outcome = await self._outcome(owner, drop_params(owner, segment_ids))
        return int(outcome["count"])

    async def demote(self, owner: str) -> int:
        return int((await self._outcome(owner, demote_params(owner)))["count"])

    async def prefetch(self, owner: str) -> int:
        return int((await self._outcome(owner, prefetch_params(owner)))["count"])

    async def snapshot(self, owner: str) -> None:
        if self._keeps_snapshots:
            await self._archive(owner, snapshot_params(owner, self.info.fingerprint))

    async def restore(self, owner: str) -> tuple[str, ...]:
        if not self._keeps_snapshots:
            return await self.owned(owner)
        params = restore_params(owner, self.info.fingerprint)
        outcome = await self._archive(owner, params)
        if note := outcome.get("note"):
            _log.info("No KV was read back: %s.", note)
        return tuple(outcome["resident"])

    async def owned(self, owner: str) -> tuple[str, ...]:
        return tuple((await self._outcome(owner, list_params(owner)))["resident"])

    async def on_host(self, owner: str) -> frozenset[str]:
        return frozenset((await self._outcome(owner, list_params(owner)))["on_host"])

    async def arena(self) -> ArenaStats:
        return read_arena_stats((await self._outcome("", stats_params()))["arena"])

    async def _archive(self, owner: str, params: dict[str, object]) -> Outcome:
        # Two tokens: the worker's answer to the first step arrives before the second one ends.
        return await self._outcome(owner, params, tokens=2)

    async def _outcome(
        self,
        owner: str,
        params: dict[str, object],
        token_ids: list[int] | None = None,
        salt: str = "control",
        tokens: int = 1,
    ) -> Outcome:
        """Run a request for its outcome; control requests prefill one token."""
        outcome: Outcome = {}
        sampling = Sampling(max_tokens=tokens, ignore_eos=True)
        async for output in self.request(owner, token_ids or [0], salt, params, sampling):
            outcome = output.outcome or outcome
        if not outcome:
            raise EngineError("The connector gave no outcome of a request it should know.")
        if reason := version_error(outcome):
            raise EngineError(reason)
        if outcome.get("error"):
            raise EngineError(f"The connector refused the request: {outcome['error']}")
        return outcome


def _with_outcome(chunk: Chunk, outcome: Outcome, spans: Sequence[Span]) -> Chunk:
    """The last chunk of a reply with the outcome of injecting `spans`; others as they are."""
    if chunk.usage is None or not outcome:
        return chunk
    injection = read_injection(outcome, spans)
    usage = replace(
        chunk.usage,
        injected_tokens=injection.tokens,
        # vLLM counts injected tokens among the cached ones.
        cached_tokens=max(0, chunk.usage.cached_tokens - injection.tokens),
        missing=injection.missing,
    )
    return replace(chunk, usage=usage)
