"""Throughput under load: requests a second in flight, as text and as KV, on the same prompts.

A closed loop: each of C clients asks its next request when the one before has ended. All
requests differ in facts and order and have salts of their own, so vLLM's prefix cache serves
none of them. The arms take turns, the second time in the other order; a batch before them
is dropped.
"""

import asyncio
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

from app.composition import Progress
from app.figures import distribution
from benchmarks.speed.measured_request import (
    RequestTimes,
    measure_request,
    require_cold,
    require_injected,
)
from benchmarks.speed.prompt_material import PromptMaterial
from benchmarks.speed.workload import Workload
from memory_engine.engines.base import Engine
from memory_engine.types import Mode, Prompt

TURNS = ((Mode.TEXT, Mode.KV), (Mode.KV, Mode.TEXT))
_FEWEST = 16  # requests of a batch, where fewer were not asked for
_A_CLIENT = 4  # requests, beyond which few clients would only take long


class _ArmLoad:
    """The batches of one arm: seconds of each, and all replies."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.replies: list[RequestTimes] = []

    @property
    def requests_per_s(self) -> float:
        return len(self.replies) / sum(self.seconds)

    def as_json(self, output_tokens: int) -> dict[str, Any]:
        """The arm's part of a row; times in milliseconds."""
        a_batch = len(self.replies) / len(self.seconds)
        tpot = [reply.tpot for reply in self.replies if reply.tpot is not None]
        gaps = [gap for reply in self.replies for gap in reply.itl]
        usages = [reply.usage for reply in self.replies]
        return {
            "requests_per_s": round(self.requests_per_s, 3),
            "requests_per_s_of_each_batch": [round(a_batch / each, 3) for each in self.seconds],
            "output_tokens_per_s": round(self.requests_per_s * output_tokens, 2),
            "ttft_ms": distribution([reply.ttft for reply in self.replies]),
            "tpot_ms": distribution(tpot) if tpot else None,
            "itl_ms": distribution(gaps) if gaps else None,
            "e2el_ms": distribution([reply.e2el for reply in self.replies]),
            "injected_tokens": min(usage.injected_tokens for usage in usages),
            "cached_tokens": max(usage.cached_tokens for usage in usages),
        }


async def measure_load(
    engine: Engine, workload: Workload, material: PromptMaterial, progress: Progress
) -> list[dict[str, Any]]:
    """Measure a row for every number in flight and every reply length. The facts are resident."""
    rows = []
    for clients in workload.concurrency:
        prompts = material.prompts(_requests(workload.requests, clients), workload.load_k)
        progress(f"{clients} in flight: warm-up")
        for mode in TURNS[0]:
            await _batch(engine, prompts[:clients], mode, clients, max(workload.output_tokens))
        for output_tokens in workload.output_tokens:
            progress(f"{clients} in flight, {output_tokens} output tokens: {len(prompts)} requests")
            rows.append(await _row(engine, workload.load_k, prompts, clients, output_tokens))
    return rows


def _requests(most: int, clients: int) -> int:
    """Requests of a batch; p99 of few clients is not worth the minutes of many requests."""
    return min(most, max(_FEWEST, _A_CLIENT * clients))


async def _row(
    engine: Engine, k: int, prompts: Sequence[Prompt], clients: int, output_tokens: int
) -> dict[str, Any]:
    loads = {mode: _ArmLoad() for mode in Mode}
    for turn in TURNS:
        for mode in turn:
            seconds, replies = await _batch(engine, prompts, mode, clients, output_tokens)
            loads[mode].seconds.append(seconds)
            loads[mode].replies += replies
    ratio = loads[Mode.KV].requests_per_s / loads[Mode.TEXT].requests_per_s
    return {
        "concurrency": clients,
        "output_tokens": output_tokens,
        "k": k,
        "prompt_tokens": loads[Mode.KV].replies[-1].usage.prompt_tokens,
        "requests": len(prompts),
        "batches": len(TURNS),
        "text": loads[Mode.TEXT].as_json(output_tokens),
        "kv": loads[Mode.KV].as_json(output_tokens),
        "speedup": round(ratio, 2),
    }


async def _batch(
    engine: Engine, prompts: Sequence[Prompt], mode: Mode, clients: int, output_tokens: int
) -> tuple[float, list[RequestTimes]]:
    """Seconds that all requests took together, and their replies."""
    replies: list[RequestTimes] = []
    waiting = iter(prompts)
    started = perf_counter()
    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(clients, len(prompts))):
                tasks.create_task(_client(engine, waiting, mode, output_tokens, replies))
    except ExceptionGroup as group:
        # The first failure says what the others would say again.
        raise group.exceptions[0] from group
    return perf_counter() - started, replies


async def _client(
    engine: Engine,
    waiting: Iterator[Prompt],
    mode: Mode,
    output_tokens: int,
    replies: list[RequestTimes],
) -> None:
    for prompt in waiting:
        reply = await measure_request(engine, prompt, mode, output_tokens=output_tokens)
        if mode is Mode.KV:
            require_injected(prompt, reply.usage)
        else:
            require_cold(reply.usage)
        replies.append(reply)
