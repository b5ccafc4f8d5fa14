"""A tiny Llama on a vLLM inside this process, driven step by step and looked into."""

import json
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from memory_engine.connector.protocol.outcome import Outcome
from memory_engine.connector.protocol.params import KEY, inject_params
from memory_engine.engines.base import EncodeJob
from memory_engine.families.in_process import InProcessEngine
from memory_engine.families.llamas import LLAMAS
from memory_engine.types import Prompt, Span

BLOCK = 32


class TinyEngine(InProcessEngine):
    """The engine, with what a test wants to know of vLLM's scheduler and of ours."""

    @property
    def vllm(self) -> Any:
        return self._llm._engine

    @property
    def scheduler(self) -> Any:
        return self.vllm.engine_core.engine_core.scheduler

    @property
    def planner(self) -> Any:
        return self.scheduler.connector.scheduler

    def add(
        self,
        prompt: Prompt,
        tokens: int = 4,
        *,
        text: bool = False,
        salt: str | None = None,
        inputs: dict[str, Any] | None = None,
        lora: Any = None,
        priority: int = 0,
        **sampling: Any,
    ) -> str:
        """Queue a greedy request, injected unless it is `text`; its id at vLLM."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        asked = inject_params(prompt.owner, prompt.spans)
        params = None if text else {"kv_transfer_params": self.signed(asked)}
        given = {"temperature": 0.0, "ignore_eos": True, "max_tokens": tokens} | sampling
        added: str = self.vllm.add_request(
            uuid.uuid4().hex,
            (inputs or {"prompt_token_ids": prompt.token_ids})
            | {"cache_salt": salt or uuid.uuid4().hex},
            SamplingParams(extra_args=params, output_kind=RequestOutputKind.FINAL_ONLY, **given),
            lora_request=lora,
            priority=priority,
        )
        return added

    def drain(self) -> dict[str, Any]:
        """Run all requests to their end; their outputs by the id at vLLM."""
        outputs: dict[str, Any] = {}
        while self.vllm.has_unfinished_requests():
            outputs |= {output.request_id: output for output in self.vllm.step() if output.finished}
        return outputs

    def one(self, prompt: Prompt, tokens: int = 4, **options: Any) -> Any:
        """The finished output of one request."""
        self.add(prompt, tokens, **options)
        (output,) = self.drain().values()
        return output

    async def remember(self, owner: str, ids: list[int], lengths: Sequence[int]) -> Prompt:
        """Encode the front of `ids` as segments of these lengths."""
        spans, at = [], 0
        for length in lengths:
            spans.append(Span(uuid.uuid4().hex, at, at + length))
            at += length
        assert len(await self.encode(EncodeJob(owner, ids, tuple(spans)))) == len(spans)
        return Prompt(owner, ids, tuple(spans))

    def require_nothing_leaked(self) -> None:
        """No pin, slot or block is held, and no request is known, once all have ended."""
        self.planner.check_integrity()
        pool = self.scheduler.kv_cache_manager.block_pool
        # The null block is never free.
        assert pool.get_num_free_blocks() == pool.num_gpu_blocks - 1
        assert not self.planner._tracked
        assert not self.planner._malformed
        assert not self.scheduler.requests


def outcome(output: Any) -> Outcome:
    """The connector's outcome of a finished request."""
    found: Outcome = output.kv_transfer_params[KEY]
    return found


def tokens(output: Any) -> list[int]:
    return list(output.outputs[0].token_ids)


@asynccontextmanager
async def tiny_engine(folder: Path, **options: Any) -> AsyncIterator[TinyEngine]:
    (folder / "config.json").write_text(json.dumps(LLAMAS[0].config))
    given = {"arena_bytes": 1 << 20, "kv_cache_bytes": 2 << 20, "max_model_len": 256} | options
    engine = TinyEngine(folder, dtype="float32", block_size=BLOCK, **given)
    await engine.start()
    try:
        assert engine.conformance.supported, engine.conformance.reason
        yield engine
    finally:
        await engine.aclose()
