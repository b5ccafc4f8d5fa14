"""What every engine with the InferScale connector does, wherever its vLLM runs."""

import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, NamedTuple

from memory_engine.engines import wire
from memory_engine.engines.base import ArenaStats, EncodeJob, Engine, EngineInfo
from memory_engine.engines.conformance import run_gate
from memory_engine.errors import EngineError
from memory_engine.types import Chunk, Mode, Prompt, Sampling

_log = logging.getLogger(__name__)


class Output(NamedTuple):
    """A piece of a request's reply; the last one has usage and the connector's account."""

    chunk: Chunk
    account: dict[str, Any]


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

    async def describe(self) -> dict[str, Any]:
        """What the connector says of the engine that runs now, and of its arena."""
        account = await self._account("", wire.stats_params())
        engine: dict[str, Any] = account.get("engine", {})
        if not engine.get("start"):
            raise EngineError("The engine has another version of InferScale's connector.")
        return engine | {"arena": account["arena"]}

    async def introduce(self) -> None:
        """Fill `info` and `conformance` from the running engine."""
        found = await self.describe()
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

    def like(self, other: "VllmEngine") -> None:
        """Take over what `other` found out: this is another line to such an engine."""
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
        params = wire.inject_params(prompt) if kv else None
        salt = wire.prompt_salt(prompt, params, sampling.cache_salt)
        outputs = self.request(prompt.owner, prompt.token_ids, salt, params, sampling)
        async with aclosing(outputs):
            async for chunk, account in outputs:
                yield wire.accounted(chunk, account, prompt.spans)

    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        params = wire.encode_params(job.owner, job.spans)
        salt = wire.encode_salt(job.owner)
        account = await self._account(job.owner, params, job.token_ids, salt)
        return tuple(account["saved"])

    async def drop(self, owner: str, segment_ids: Sequence[str] | None = None) -> int:
        account = await self._account(owner, wire.drop_params(owner, segment_ids))
        return int(account["count"])

    async def demote(self, owner: str) -> int:
        return int((await self._account(owner, wire.demote_params(owner)))["count"])

    async def prefetch(self, owner: str) -> int:
        return int((await self._account(owner, wire.prefetch_params(owner)))["count"])

    async def snapshot(self, owner: str) -> None:
        if self._keeps_snapshots:
            await self._archive(owner, wire.snapshot_params(owner, self.info.fingerprint))

    async def restore(self, owner: str) -> tuple[str, ...]:
        if not self._keeps_snapshots:
            return await self.owned(owner)
        params = wire.restore_params(owner, self.info.fingerprint)
        account = await self._archive(owner, params)
        if note := account.get("note"):
            _log.info("No KV was read back: %s.", note)
        return tuple(account["resident"])

    async def owned(self, owner: str) -> tuple[str, ...]:
        return tuple((await self._account(owner, wire.list_params(owner)))["resident"])

    async def on_host(self, owner: str) -> frozenset[str]:
        return frozenset((await self._account(owner, wire.list_params(owner)))["on_host"])

    async def arena(self) -> ArenaStats:
        return wire.arena_stats((await self._account("", wire.stats_params()))["arena"])

    async def _archive(self, owner: str, params: dict[str, object]) -> dict[str, Any]:
        # Two tokens: the worker's answer to the first step arrives before the second one ends.
        return await self._account(owner, params, tokens=2)

    async def _account(
        self,
        owner: str,
        params: dict[str, object],
        token_ids: list[int] | None = None,
        salt: str = "control",
        tokens: int = 1,
    ) -> dict[str, Any]:
        """Run a request for its account; control requests prefill one token."""
        account: dict[str, Any] = {}
        sampling = Sampling(max_tokens=tokens, ignore_eos=True)
        async for output in self.request(owner, token_ids or [0], salt, params, sampling):
            account = output.account or account
        if not account:
            raise EngineError("The connector gave no account of a request it should know.")
        if account.get("error"):
            raise EngineError(f"The connector refused the request: {account['error']}")
        return account
