"""Time to first token of a chat while facts are imported, through the product's queue.

A person asks, reads the reply and thinks; meanwhile an import of thousands of facts is
encoded by the product's own queue. A message is recalled for, with the embedding model, before
its reply is asked for, as in the product. Rounds with and without the import take turns.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from time import perf_counter
from typing import Any

from app.figures import distribution
from benchmarks.speed.encoding_rate import ROUNDS, WINDOW
from benchmarks.speed.measured_request import measure_request, require_injected
from benchmarks.speed.prompt_material import FACTS_A_RUN, PromptMaterial
from benchmarks.speed.workload import CHAT_REPLY_TOKENS, Workload
from memory_engine.encoding.encoding_queue import EncodingQueue
from memory_engine.encoding.windows import EncodeJobs, FactSegment
from memory_engine.engines.base import Engine
from memory_engine.types import Mode, Prompt

Recall = Callable[[], Awaitable[object]]
THINKING_S = (0.05, 0.25)
_SEED = 8
_MODEL = "bench"  # what segment ids name instead of a model


async def measure_chat(
    engine: Engine, workload: Workload, material: PromptMaterial, chat: Prompt, recall: Recall
) -> dict[str, Any]:
    """Measure the time to first token of `chat`, in KV mode, alone and beside an import.

    chat: its segments are resident. recall: what the product does between a message and its
    request. Times in milliseconds: `ttft_ms` from the request, `from_message_ms` with recall.
    """
    queue = EncodingQueue(engine, EncodeJobs(_MODEL, material.prefix))
    conversation = _Conversation(engine, queue, chat, recall)
    alone, beside = _Times(), _Times()
    facts, seconds = 0, 0.0
    await conversation.talk(1, _Times())
    for turn in range(ROUNDS):
        for importing in (False, True) if turn % 2 == 0 else (True, False):
            if not importing:
                await conversation.talk(workload.chat_requests, alone)
                continue
            started = perf_counter()
            async with _import(engine, queue, material, f"bench-{turn}") as encoded:
                await conversation.talk(workload.chat_requests, beside)
                facts += encoded()
            seconds += perf_counter() - started
    return {
        "k": len(chat.spans) - 1,
        "n": len(alone.ttft),
        "reply_tokens": CHAT_REPLY_TOKENS,
        "thinking_s": THINKING_S,
        "alone": alone.as_json(),
        "while_encoding": beside.as_json(),
        "p99_rise_percent": _rise(alone.ttft, beside.ttft),
        "p99_rise_from_message_percent": _rise(alone.from_message, beside.from_message),
        "facts_per_s": round(facts / seconds, 2),
    }


class _Times:
    def __init__(self) -> None:
        self.ttft: list[float] = []
        self.from_message: list[float] = []

    def as_json(self) -> dict[str, Any]:
        return {
            "ttft_ms": distribution(self.ttft),
            "from_message_ms": distribution(self.from_message),
        }


class _Conversation:
    """One person's messages, through the queue that encoding has to wait in."""

    def __init__(
        self, engine: Engine, queue: EncodingQueue, prompt: Prompt, recall: Recall
    ) -> None:
        self._engine = engine
        self._queue = queue
        self._prompt = prompt
        self._recall = recall
        self._random = random.Random(_SEED)

    async def talk(self, messages: int, times: _Times) -> None:
        for _ in range(messages):
            came = perf_counter()
            self._queue.message(self._prompt.owner)
            await self._recall()
            recalled = (perf_counter() - came) * 1000
            first_token = self._queue.reply(self._prompt.owner)
            try:
                reply = await measure_request(
                    self._engine,
                    self._prompt,
                    Mode.KV,
                    output_tokens=CHAT_REPLY_TOKENS,
                    on_first=first_token,
                )
            finally:
                first_token()
            require_injected(self._prompt, reply.usage)
            times.ttft.append(reply.ttft)
            times.from_message.append(recalled + reply.ttft)
            await asyncio.sleep(self._random.uniform(*THINKING_S))


@asynccontextmanager
async def _import(
    engine: Engine, queue: EncodingQueue, material: PromptMaterial, name: str
) -> AsyncIterator[Callable[[], int]]:
    """Encode `material` for one owner after another, until the end; yield the count so far."""
    done, owner = 0, name

    async def encode() -> None:
        nonlocal done, owner
        for number in count():
            owner = f"{name}-{number}"
            # In a thread, as in the product: 27 ms for 1,024 facts on two CPU cores.
            queue.want(owner, await asyncio.to_thread(segments_of, material, owner))
            await queue.settle(owner)
            done += len(material.facts)
            await engine.drop(owner)

    task = asyncio.create_task(encode())
    try:
        yield lambda: done + len(queue.resident(owner))
    finally:
        task.cancel()
        queue.want(owner, ())
        with suppress(asyncio.CancelledError):
            await task
        await queue.settle()
        await engine.drop(owner)


def segments_of(material: PromptMaterial, owner: str) -> list[FactSegment]:
    """Lay the facts out as segments in runs, each behind WINDOW facts before its run."""
    planner, facts, segments = EncodeJobs(_MODEL, material.prefix), material.facts, []
    for first in range(0, len(facts), FACTS_A_RUN):
        context = [i for fact in facts[max(0, first - WINDOW) : first] for i in fact]
        for fact in facts[first : first + FACTS_A_RUN]:
            segment_id = planner.segment_id(owner, context, fact)
            segments.append(FactSegment(segment_id, tuple(context), tuple(fact), first))
            context += fact
    return segments


def _rise(alone: Sequence[float], beside: Sequence[float]) -> float:
    return round(100 * (distribution(beside)["p99"] / distribution(alone)["p99"] - 1), 1)
