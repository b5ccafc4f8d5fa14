"""Last node of a reply: the engine's text, as it comes, and the account of it."""

import asyncio
from contextlib import aclosing
from time import perf_counter
from typing import Any

from langgraph.runtime import Runtime

from agent.graph_context import ReplyContext
from agent.graph_state import ReplyState
from agent.reply.trace import account
from agent.reply_events import FirstToken, TextDelta
from memory_engine.errors import EngineError
from memory_engine.types import Chunk, Mode


async def respond(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Generate from the one plan in every mode asked for, one after the other or at once."""
    before_ms = (perf_counter() - runtime.context.started) * 1000
    modes = state["request"].modes
    if not state["request"].at_once:
        for mode in modes:
            await _respond_in(mode, state, runtime, before_ms)
        return {}
    replies = [asyncio.create_task(_respond_in(m, state, runtime, before_ms)) for m in modes]
    try:
        await asyncio.gather(*replies)
    finally:
        for reply in replies:
            reply.cancel()
        await asyncio.wait(replies)
    return {}


async def _respond_in(
    mode: Mode, state: ReplyState, runtime: Runtime[ReplyContext], before_ms: float
) -> None:
    # `before_ms` is the time between the user's message and the first call of the engine:
    # in a comparison the second mode does not pay for the first one's generation.
    write, context = runtime.stream_writer, runtime.context
    pieces: list[str] = []
    ttft_ms: float | None = None
    last: Chunk | None = None
    began = perf_counter()
    stream = context.memory.stream(state["plan"], mode, context.sampling)
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            if chunk.text:
                if ttft_ms is None:
                    ttft_ms = (perf_counter() - began) * 1000
                    write((mode, FirstToken(ttft_ms, before_ms + ttft_ms)))
                pieces.append(chunk.text)
                write((mode, TextDelta(chunk.text)))
            if chunk.usage is not None:
                last = chunk
    if last is None:
        raise EngineError("The engine ended the reply without an account of it.")
    e2el_ms = (perf_counter() - began) * 1000
    if ttft_ms is None:
        ttft_ms = e2el_ms
    text, e2e_ttft_ms = "".join(pieces), before_ms + ttft_ms
    write((mode, account(state, mode, text, last, ttft_ms, e2e_ttft_ms, e2el_ms)))
