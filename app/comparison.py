"""Comparison of text and KV on one question: alternated, cold, warm-up dropped, medians."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from statistics import median_low
from typing import TYPE_CHECKING, Any

from agent.reply_events import Reply
from app.figures import Distribution, distribution, speedup, spread
from memory_engine.errors import EngineError, UnsupportedModelError
from memory_engine.types import Mode, Sampling

if TYPE_CHECKING:
    from app.service import ChatService

WARM_UPS = 1
WAYS = ("cold", "warm", "kv")
MEASURED_TOKENS = 48  # an answer is one sentence
ORDERS = ((Mode.TEXT, Mode.KV), (Mode.KV, Mode.TEXT))


async def compare(
    service: "ChatService", *, user: str, message: str, k: int | None, repeats: int, max_tokens: int
) -> dict[str, Any]:
    """Ask once a turn in both modes on the same token ids; nothing is remembered.

    Every request has a cache salt of its own, so text is prefilled from nothing and KV
    comes from the arena. `text` and `kv` are the replies with the median time to first
    token. Raises UnsupportedModelError when the model is refused.
    """
    if not service.kv_available:
        raise UnsupportedModelError(f"There is nothing to compare: {service.kv_refusal}")
    await service.settle(user)
    await service.settle()  # nobody's facts are encoded while we measure
    replies: dict[Mode, list[Reply]] = {Mode.TEXT: [], Mode.KV: []}
    for turn in range(repeats + WARM_UPS):
        events = service.compare(
            user=user,
            message=message,
            k=k,
            order=ORDERS[turn % 2],
            remember=False,
            sampling=cold(max_tokens),
        )
        async for mode, event in events:
            if isinstance(event, Reply) and turn >= WARM_UPS:
                replies[mode].append(event)
    return _report(replies)


def cold(max_tokens: int) -> Sampling:
    """Make greedy sampling with a cache salt that no other request has."""
    return Sampling(max_tokens=max_tokens, cache_salt=uuid.uuid4().hex)


def _report(replies: dict[Mode, list[Reply]]) -> dict[str, Any]:
    times = {mode: [reply.ttft_ms for reply in got] for mode, got in replies.items()}
    pairs = zip(replies[Mode.TEXT], replies[Mode.KV], strict=True)
    return {
        "text": _typical(replies[Mode.TEXT]) | {"ttft_spread_ms": spread(times[Mode.TEXT])},
        "kv": _typical(replies[Mode.KV]) | {"ttft_spread_ms": spread(times[Mode.KV])},
        "speedup": speedup(times[Mode.TEXT], times[Mode.KV]),
        "same_reply": all(text.reply == kv.reply for text, kv in pairs),
        "n": len(times[Mode.TEXT]),
        "warm_ups_dropped": WARM_UPS,
    }


def _typical(replies: list[Reply]) -> dict[str, Any]:
    middle = median_low(reply.ttft_ms for reply in replies)
    return next(reply for reply in replies if reply.ttft_ms == middle).as_json()


@dataclass(frozen=True, slots=True)
class Measured:
    """Time to the first token in ms, by way, over `n` runs, and two replies.

    `speedup` is how many times faster KV is than cold text, by the medians.
    """

    ttft_ms: dict[str, Distribution]
    speedup: float
    n: int
    facts: int
    text: str
    kv: str


async def measure(
    service: "ChatService", *, user: str, message: str, k: int | None, repeats: int = 5
) -> Measured:
    """Ask in all of `WAYS`; nothing is remembered.

    `warm` repeats the cold text with its cache salt, so that vLLM's prefix cache has the
    prompt. Raises UnsupportedModelError when the model is refused.
    """
    if not service.kv_available:
        raise UnsupportedModelError(f"There is nothing to compare: {service.kv_refusal}")
    await service.settle(user)
    replies: dict[str, list[Reply]] = {way: [] for way in WAYS}
    for turn in range(repeats + WARM_UPS):
        text, kv = cold(MEASURED_TOKENS), cold(MEASURED_TOKENS)
        asked = [("cold", Mode.TEXT, text), ("warm", Mode.TEXT, text), ("kv", Mode.KV, kv)]
        for way, mode, sampling in asked if turn % 2 else (asked[2], *asked[:2]):
            events = service.reply(
                user=user, message=message, mode=mode, k=k, remember=False, sampling=sampling
            )
            reply = await last_reply(events)
            if turn >= WARM_UPS:
                replies[way].append(reply)
    times = {way: [reply.ttft_ms for reply in got] for way, got in replies.items()}
    text_reply, kv_reply = replies["cold"][-1], replies["kv"][-1]
    return Measured(
        ttft_ms={way: distribution(of_way) for way, of_way in times.items()},
        speedup=speedup(times["cold"], times["kv"]),
        n=repeats,
        facts=len(kv_reply.facts),
        text=text_reply.reply,
        kv=kv_reply.reply,
    )


async def last_reply(events: AsyncIterator[Any]) -> Reply:
    """Return the reply at the end of its events. Raises EngineError when there is none."""
    reply = None
    async for event in events:
        if isinstance(event, Reply):
            reply = event
    if reply is None:
        raise EngineError("The engine ended without a reply.")
    return reply
