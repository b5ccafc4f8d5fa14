"""Time to first token of one request at a time: text cold and warm, KV from GPU and host.

Text is measured cold (a fresh cache salt a run, so vLLM's prefix cache has nothing) and
warm (the same prompt again). KV is also measured with a fresh salt a run: the facts come
from the arena, not from the prefix cache. For KV from host memory the owner's segments are
taken off the device before each request, whose own step brings back what it needs. Arms
take turns and the first turn is dropped.
"""

import uuid
from enum import StrEnum
from typing import Any

from app.composition import Progress
from app.figures import speedup, spread
from benchmarks.speed.measured_request import (
    RequestTimes,
    measure_request,
    require_cold,
    require_injected,
)
from benchmarks.speed.prompt_material import PromptMaterial
from benchmarks.speed.workload import Workload
from memory_engine.engines.base import Engine
from memory_engine.errors import EngineError
from memory_engine.types import Mode, Prompt

WARM_UPS = 1


class Arm(StrEnum):
    """Source of the facts of a request."""

    TEXT = "text"
    KV = "kv"
    WARM = "text_warm"
    HOST = "host"


class LatencyRow:
    """Measurement of one prompt in all arms."""

    def __init__(self, engine: Engine, prompt: Prompt, *, host: bool) -> None:
        self._engine = engine
        self._prompt = prompt
        self._arms = [arm for arm in Arm if host or arm is not Arm.HOST]
        self._host = host
        self._warm_salt = uuid.uuid4().hex
        self._replies: dict[Arm, list[RequestTimes]] = {arm: [] for arm in self._arms}

    async def fill_cache(self) -> None:
        """Have vLLM's prefix cache hold the prompt for the warm arm."""
        await measure_request(self._engine, self._prompt, Mode.TEXT, self._warm_salt)

    async def turn(self, number: int, *, kept: bool) -> None:
        """Measure every arm once, another one first each turn."""
        shift = number % len(self._arms)
        for arm in self._arms[shift:] + self._arms[:shift]:
            reply = await self._sample(arm)
            if kept:
                self._replies[arm].append(reply)

    def as_json(self, k: int) -> dict[str, Any]:
        """Summarise the row; times in milliseconds, counts in tokens."""
        times = {arm: [reply.ttft for reply in got] for arm, got in self._replies.items()}
        usages = [reply.usage for reply in self._replies[Arm.KV]]
        return {
            "k": k,
            "prompt_tokens": usages[-1].prompt_tokens,
            "text_ttft_ms": spread(times[Arm.TEXT]),
            "kv_ttft_ms": spread(times[Arm.KV]),
            "speedup": speedup(times[Arm.TEXT], times[Arm.KV]),
            "text_warm_ttft_ms": spread(times[Arm.WARM]),
            "host_ttft_ms": spread(times[Arm.HOST]) if self._host else None,
            "host_speedup": speedup(times[Arm.TEXT], times[Arm.HOST]) if self._host else None,
            "injected_tokens": min(usage.injected_tokens for usage in usages),
            "prefilled_tokens": max(usage.prefilled_tokens for usage in usages),
            "missing_segments": max(len(usage.missing) for usage in usages),
        }

    async def _sample(self, arm: Arm) -> RequestTimes:
        # Also before text, so that every arm meets an engine that was as busy.
        before = await self._place(arm)
        if arm is Arm.WARM:
            return await measure_request(self._engine, self._prompt, Mode.TEXT, self._warm_salt)
        if arm is Arm.TEXT:
            reply = await measure_request(self._engine, self._prompt, Mode.TEXT)
            require_cold(reply.usage)
            return reply
        reply = await measure_request(self._engine, self._prompt, Mode.KV)
        require_injected(self._prompt, reply.usage)
        await self._require_promotions(arm, before)
        return reply

    async def _place(self, arm: Arm) -> int:
        """Put the facts where the arm wants them; the promotions there were until then."""
        if not self._host:
            return 0
        move = self._engine.demote if arm is Arm.HOST else self._engine.prefetch
        await move(self._prompt.owner)
        return (await self._engine.arena()).promotions

    async def _require_promotions(self, arm: Arm, before: int) -> None:
        if not self._host:
            return
        promoted = (await self._engine.arena()).promotions - before
        expected = len(self._prompt.spans) if arm is Arm.HOST else 0
        if promoted != expected:
            raise EngineError(
                f"{promoted} segments came from host memory for a request of the arm "
                f"'{arm}', and {expected} should have."
            )


async def measure_row(
    engine: Engine,
    workload: Workload,
    material: PromptMaterial,
    k: int,
    progress: Progress,
) -> dict[str, Any]:
    """Measure a row of the report: the first `k` facts, resident before, in all arms."""
    row = LatencyRow(engine, material.prompt(range(k)), host=workload.host_mib != 0)
    await row.fill_cache()
    for number in range(workload.repeats + WARM_UPS):
        length = len(material.facts[0]) if material.facts else 0
        progress(
            f"k={k}, {length} tokens a fact: turn {number + 1} of {workload.repeats + WARM_UPS}"
        )
        await row.turn(number, kept=number >= WARM_UPS)
    return row.as_json(k)


async def measure_fact_length(
    engine: Engine, workload: Workload, material: PromptMaterial, progress: Progress
) -> dict[str, Any]:
    """Measure a row for facts of another length: they are encoded, measured and dropped."""
    try:
        for run in material.runs():
            await engine.encode(run)
        row = await measure_row(engine, workload, material, len(material.facts), progress)
    finally:
        await engine.drop(material.owner)
    return {"fact_tokens": len(material.facts[0])} | row
