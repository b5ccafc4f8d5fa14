"""Embedded engine: vLLM's AsyncLLM with the InferScale connector, owned by this process."""

import asyncio
import secrets
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from memory_engine.connector.protocol.params import KEY, signed
from memory_engine.engines.vllm_arguments import launch
from memory_engine.engines.vllm_engine import Output, VllmEngine
from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.types import Chunk, Sampling, Usage


class EmbeddedEngine(VllmEngine):
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
        await self.inspect()

    def _launch(self) -> Any:
        return launch(self._model, **self._options)

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
        owner: str,
        token_ids: list[int],
        salt: str,
        params: dict[str, object] | None,
        sampling: Sampling,
    ) -> AsyncGenerator[Output, None]:
        generated = 0
        outputs = self.outputs(token_ids, salt, params, sampling)
        async with aclosing(outputs):
            async for output in outputs:
                piece = output.outputs[0]
                generated += len(piece.token_ids)
                chunk = Chunk(
                    piece.text or "",
                    tuple(piece.token_ids),
                    _usage(output, generated) if output.finished else None,
                    piece.finish_reason if output.finished else None,
                    _logprobs(piece),
                )
                yield Output(chunk, (output.kv_transfer_params or {}).get(KEY, {}))

    async def outputs(
        self,
        token_ids: list[int],
        salt: str,
        params: dict[str, object] | None,
        sampling: Sampling,
        **extra: Any,
    ) -> AsyncGenerator[Any, None]:
        """vLLM's own outputs of one request, as deltas; `extra` goes to its SamplingParams."""
        from vllm.exceptions import VLLMValidationError
        from vllm.inputs.engine import tokens_input
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        if self._llm is None:
            raise EngineStoppedError("The engine is not running: start it first.")
        vllm_sampling = self._vllm_sampling(params, sampling, extra)
        # What is tokenized already needs no thread of vLLM's, and no wait for one.
        inputs = tokens_input(token_ids, cache_salt=salt)
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

    def _vllm_sampling(
        self, params: dict[str, object] | None, sampling: Sampling, extra: dict[str, Any]
    ) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        schema = sampling.json_schema
        return SamplingParams(
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=sampling.seed,
            stop=list(sampling.stop),
            allowed_token_ids=list(sampling.allowed_tokens) or None,
            ignore_eos=sampling.ignore_eos,
            logprobs=sampling.logprobs or None,
            output_kind=RequestOutputKind.DELTA,
            structured_outputs=StructuredOutputsParams(json=schema) if schema else None,
            extra_args={"kv_transfer_params": self.signed(params)} if params else None,
            # Made for this request alone: vLLM need not copy it deeply.
            skip_clone=True,
            **extra,
        )

    def signed(self, params: dict[str, object]) -> dict[str, object]:
        """A request's parameters as this engine's connector accepts them."""
        return signed(params, self._signing_key)


def _logprobs(piece: Any) -> tuple[dict[int, float], ...]:
    steps = piece.logprobs or ()
    return tuple({token: entry.logprob for token, entry in step.items()} for step in steps)


def _usage(output: Any, generated: int) -> Usage:
    times = output.metrics
    return Usage(
        prompt_tokens=len(output.prompt_token_ids),
        cached_tokens=output.num_cached_tokens or 0,
        output_tokens=generated,
        queue_ms=(times.scheduled_ts - times.queued_ts) * 1e3 if times else 0.0,
        prefill_ms=(times.first_token_ts - times.scheduled_ts) * 1e3 if times else 0.0,
    )
