"""vLLM in this process's care: AsyncLLM with the InferScale connector."""

import asyncio
import logging
import secrets
import uuid
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from memory_engine.engines import wire
from memory_engine.engines.base import ArenaStats, EncodeJob, Engine, EngineInfo
from memory_engine.engines.conformance import run_gate
from memory_engine.engines.fingerprint import model_fingerprint
from memory_engine.engines.launch import launch
from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.types import Chunk, Mode, Prompt, Sampling, Usage

_log = logging.getLogger(__name__)


class EmbeddedEngine(Engine):
    """One vLLM engine, started and stopped with this object.

    model: a local folder or a hub id. arena_bytes: KV kept for facts on the device, and
    host_bytes in host memory behind it, of which an owner may have `owner_share` (0 to 1);
    store_dtype: `auto` or `fp8`. snapshot_folder: where
    `snapshot` writes, at most snapshot_bytes in all; None for nowhere. kv_cache_bytes:
    vLLM's paged cache, None to let vLLM size it. Other keyword arguments go to vLLM's
    `AsyncEngineArgs` as they are.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        arena_bytes: int,
        host_bytes: int = 0,
        store_dtype: str = "auto",
        owner_share: float = 1.0,
        snapshot_folder: Path | None = None,
        snapshot_bytes: int = 0,
        kv_cache_bytes: int | None = None,
        max_model_len: int | None = None,
        dtype: str = "auto",
        **engine_args: Any,
    ) -> None:
        self._model = str(model)
        self._arena_bytes = arena_bytes
        self._store_dtype = store_dtype
        self._keeps_snapshots = snapshot_folder is not None
        # Made anew with every engine: nobody else on this machine can speak to its connector.
        self._signing_key = secrets.token_hex(32)
        self._options: dict[str, Any] = {
            "connector": {
                "arena_bytes": arena_bytes,
                "host_bytes": host_bytes,
                "store_dtype": store_dtype,
                "owner_share": owner_share,
                "signing_key": self._signing_key,
                "snapshot_folder": str(snapshot_folder or ""),
                "snapshot_bytes": snapshot_bytes,
            },
            "kv_cache_bytes": kv_cache_bytes,
            "max_model_len": max_model_len,
            "dtype": dtype,
            **engine_args,
        }
        self._llm: Any = None

    async def start(self) -> None:
        """Load the model and run the gate. About half a minute on two CPU cores.

        Raises ArenaTooLargeError if arena and cache do not fit the memory there is.
        """
        self._llm = await asyncio.to_thread(self._launch)
        config = self._llm.vllm_config
        stats = await self._account(wire.stats_params())
        capacity = int(stats.get("arena", {}).get("capacity", 0))
        self.info = EngineInfo(
            model=self._model,
            fingerprint=await asyncio.to_thread(model_fingerprint, self._model, config),
            max_model_len=int(config.model_config.max_model_len),
            device=_device_name(),
            arena_tokens=capacity,
            kv_bytes_per_token=self._arena_bytes // capacity if capacity else 0,
            versions=_versions(),
            host_tokens=int(stats.get("arena", {}).get("host_capacity", 0)),
        )
        vocab = int(config.model_config.get_vocab_size())
        self.conformance = await run_gate(
            self, vocab, str(config.model_config.dtype), fp8=self._store_dtype == "fp8"
        )

    def _launch(self) -> Any:
        return launch(self._model, **self._options)

    async def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        kv = mode is Mode.KV and bool(prompt.spans) and self.conformance.supported
        params = wire.inject_params(prompt) if kv else None
        salt = wire.prompt_salt(prompt, params, sampling.cache_salt)
        outputs = self.request(prompt.token_ids, salt, params, sampling)
        generated = 0
        try:
            async for output in outputs:
                piece = output.outputs[0]
                generated += len(piece.token_ids)
                usage = _usage(output, generated) if output.finished else None
                reason = piece.finish_reason if output.finished else None
                logprobs = _logprobs(piece)
                yield Chunk(piece.text or "", tuple(piece.token_ids), usage, reason, logprobs)
        finally:
            await outputs.aclose()

    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        params = wire.encode_params(job.owner, job.spans)
        account = await self._account(params, job.token_ids, wire.encode_salt(job.owner))
        return tuple(account["saved"])

    async def drop(self, owner: str, segment_ids: Sequence[str] | None = None) -> int:
        account = await self._account(wire.drop_params(owner, segment_ids))
        return int(account["count"])

    async def demote(self, owner: str) -> int:
        return int((await self._account(wire.demote_params(owner)))["count"])

    async def prefetch(self, owner: str) -> int:
        return int((await self._account(wire.prefetch_params(owner)))["count"])

    async def snapshot(self, owner: str) -> None:
        if self._keeps_snapshots:
            await self._archive(wire.snapshot_params(owner, self.info.fingerprint))

    async def restore(self, owner: str) -> tuple[str, ...]:
        if not self._keeps_snapshots:
            return ()
        account = await self._archive(wire.restore_params(owner, self.info.fingerprint))
        if note := account.get("note"):
            _log.info("No KV was read back: %s.", note)
        return tuple(account["resident"])

    async def owned(self, owner: str) -> tuple[str, ...]:
        return tuple((await self._account(wire.list_params(owner)))["resident"])

    async def arena(self) -> ArenaStats:
        return wire.arena_stats((await self._account(wire.stats_params()))["arena"])

    async def aclose(self) -> None:
        llm, self._llm = self._llm, None
        if llm is not None:
            handler = getattr(llm, "output_handler", None)
            if handler is not None:
                # Or it reports the end of the engine's process as a failure.
                handler.cancel()
            await asyncio.to_thread(llm.shutdown)
            # vLLM shuts down once more when it is collected, which can be after the modules
            # it needs for that are gone.
            llm.shutdown = lambda: None

    async def request(
        self,
        token_ids: list[int],
        salt: str,
        params: dict[str, object] | None,
        sampling: Sampling,
        **extra: Any,
    ) -> AsyncGenerator[Any, None]:
        """vLLM's outputs of one request, as deltas; closing the generator aborts it."""
        from vllm import SamplingParams
        from vllm.exceptions import VLLMValidationError
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        if self._llm is None:
            raise EngineStoppedError("The engine is not running: start it first.")
        schema = sampling.json_schema
        vllm_sampling = SamplingParams(
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=sampling.seed,
            stop=list(sampling.stop),
            allowed_token_ids=list(sampling.allowed_tokens) or None,
            output_kind=RequestOutputKind.DELTA,
            structured_outputs=StructuredOutputsParams(json=schema) if schema else None,
            extra_args={"kv_transfer_params": self.signed(params)} if params else None,
            **({"ignore_eos": sampling.ignore_eos, "logprobs": sampling.logprobs or None} | extra),
        )
        inputs = {"prompt_token_ids": token_ids, "cache_salt": salt}
        outputs = self._llm.generate(inputs, vllm_sampling, uuid.uuid4().hex)
        try:
            async for output in outputs:
                yield output
        except EngineDeadError as error:
            raise EngineStoppedError("The engine stopped while it worked; restart it.") from error
        except (EngineGenerateError, VLLMValidationError, ValueError) as error:
            raise EngineError(f"The engine refused the request: {error}") from error
        finally:
            await outputs.aclose()

    def signed(self, params: dict[str, object]) -> dict[str, object]:
        """A request's parameters as this engine's connector accepts them."""
        return wire.signed(params, self._signing_key)

    async def _archive(self, params: dict[str, object]) -> dict[str, Any]:
        # Two tokens: the worker's answer to the first step arrives before the second one ends.
        return await self._account(params, tokens=2)

    async def _account(
        self,
        params: dict[str, object],
        token_ids: list[int] | None = None,
        salt: str = "control",
        tokens: int = 1,
    ) -> dict[str, Any]:
        """Run a request for its account; control requests prefill one token."""
        account: dict[str, Any] | None = None
        sampling, more = Sampling(max_tokens=tokens), {"min_tokens": tokens, "ignore_eos": True}
        outputs = self.request(token_ids or [0], salt, params, sampling, **more)
        async for output in outputs:
            account = (output.kv_transfer_params or {}).get(wire.KEY) or account
        if account is None:
            raise EngineError("The connector gave no account of a request it should know.")
        if account.get("error"):
            raise EngineError(f"The connector refused the request: {account['error']}")
        return account


def _logprobs(piece: Any) -> tuple[dict[int, float], ...]:
    steps = piece.logprobs or ()
    return tuple({token: entry.logprob for token, entry in step.items()} for step in steps)


def _usage(output: Any, generated: int) -> Usage:
    account = (output.kv_transfer_params or {}).get(wire.KEY, {})
    injected = int(account.get("injected", 0))
    times = output.metrics
    return Usage(
        prompt_tokens=len(output.prompt_token_ids),
        injected_tokens=injected,
        cached_tokens=max(0, (output.num_cached_tokens or 0) - injected),
        output_tokens=generated,
        missing=tuple(account.get("missing", ())),
        queue_ms=(times.scheduled_ts - times.queued_ts) * 1e3 if times else 0.0,
        prefill_ms=(times.first_token_ts - times.scheduled_ts) * 1e3 if times else 0.0,
    )


def _device_name() -> str:
    from vllm.platforms import current_platform

    return "cpu" if current_platform.is_cpu() else str(current_platform.get_device_name())


def _versions() -> dict[str, str]:
    import torch
    import vllm

    return {"vllm": vllm.__version__, "torch": torch.__version__}
