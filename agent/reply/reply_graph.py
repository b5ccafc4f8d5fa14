"""The reply graph: from a user's message to its stored reply, one node a step.

    place -> switch_memory -> catch_up -> recall -> plan -> record -> respond -> keep

Nothing is stored before `record`; from there on the graph always runs to `keep`, whether the
reply is complete, failed, or was stopped by whoever read it. The engine is asked in `respond`.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from time import monotonic, perf_counter
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from agent.conversations.stored_traces import trace_to_json
from agent.db.utc import utc_now
from agent.extraction.english.periods import periods
from agent.reply.accumulator import ReplyAccumulator
from agent.reply.reply_state import ReplyContext, ReplyServices, ReplyState
from agent.reply.trace import trace
from agent.reply_events import FirstToken, ReplyEvent, TextDelta
from agent.request import Request
from memory_engine.errors import (
    DatabaseLockedError,
    DatabaseUnavailableError,
    EngineError,
    UserError,
)
from memory_engine.types import Chunk, Message, Mode, Scope

# How long a reply that was shown waits at most for a database that does not answer.
KEEP_S = 10.0
KEEP_AGAIN_S = 0.3
RECURSION_LIMIT = 12

CompiledReplyGraph = CompiledStateGraph[ReplyState, ReplyContext, ReplyState, ReplyState]


class ReplyGraph:
    """Runs the graph for one message after the other, or many at once."""

    def __init__(self, services: ReplyServices) -> None:
        self._services = services
        self._graph = reply_graph()
        # The event loop holds no task that nobody else holds.
        self._running: set[asyncio.Task[Any]] = set()

    async def reply(self, request: Request) -> AsyncGenerator[tuple[Mode, ReplyEvent], None]:
        """Reply in each mode of `request` from one prompt; see `respond` for the events.

        Closing the iterator aborts the engine's request and keeps what was shown. Raises what
        the nodes raise.
        """
        events: asyncio.Queue[tuple[Mode, ReplyEvent] | None] = asyncio.Queue()
        accumulator = ReplyAccumulator(request.keep)

        def emit(mode: Mode, event: ReplyEvent) -> None:
            accumulator.add(mode, event)
            events.put_nowait((mode, event))

        context = ReplyContext(self._services, accumulator, emit, perf_counter())
        state, limit = ReplyState(request=request), RunnableConfig(recursion_limit=RECURSION_LIMIT)
        run = asyncio.create_task(self._graph.ainvoke(state, limit, context=context))
        self._running.add(run)
        run.add_done_callback(self._running.discard)
        run.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
        finally:
            if accumulator.turn is None:
                run.cancel()
            else:
                accumulator.stop()
            # Also when the caller was cancelled: what was shown is kept.
            await asyncio.shield(asyncio.wait([run]))
            if not run.cancelled():
                run.result()


def reply_graph() -> CompiledReplyGraph:
    """Compile the graph."""
    builder = StateGraph(ReplyState, context_schema=ReplyContext)
    steps = (place, switch_memory, catch_up, recall, plan, record, respond, keep)
    builder.add_sequence(steps)
    builder.add_edge(START, place.__name__)
    return builder.compile()


async def place(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Find the conversation and the history that a program's message belongs to."""
    return {"request": await runtime.context.services.clients.resolve(state["request"])}


async def switch_memory(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Recall and remember nothing where the conversation's memory is switched off."""
    request, conversations = state["request"], runtime.context.services.conversations
    conversation = request.conversation_id
    if conversation is None or await conversations.has_memory(request.owner, conversation):
        return {}
    return {"request": replace(request, k=0, remember=False)}


async def catch_up(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Wait for what the owner said just before, so that it can be recalled."""
    await runtime.context.services.catch_up(state["request"].owner)
    return {}


async def recall(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Recall up to `k` facts of the owner that this conversation may see, best first."""
    services, request, began = runtime.context.services, state["request"], perf_counter()
    k = services.recall_k if request.k is None else request.k
    recalled = []
    services.memory.expect_reply(request.owner)
    if k > 0:
        await services.memory_sync.ensure(request.owner)
        named = await asyncio.to_thread(periods, request.message, utc_now(), services.zone)
        scope = Scope(request.agent, request.conversation_id)
        retriever = services.memory.retriever
        recalled = await retriever.recall(request.owner, request.message, k, scope, named)
    return {"recalled": recalled, "recall_ms": (perf_counter() - began) * 1000}


async def plan(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Lay out the prompt. Raises MessageTooLongError and NotFoundError."""
    services, request, began = runtime.context.services, state["request"], perf_counter()
    history: Sequence[Message] = ()
    if request.client is not None:
        history = request.client.history
    elif request.conversation_id is not None:
        history = await services.conversations.messages(
            request.owner, request.conversation_id, before_last=request.again
        )
    sampling = request.sampling or services.sampling
    laid_out = services.memory.layout.plan(
        request.owner,
        state["recalled"],
        history,
        request.message,
        sampling.max_tokens,
        instructions=request.client.instructions if request.client else "",
    )
    return {"plan": laid_out, "plan_ms": (perf_counter() - began) * 1000}


async def record(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Store the user's turn, in a new conversation if it has none, before the engine is asked.

    A message that is replied to again, or that a program sends again, is stored already.
    """
    request, conversations = state["request"], runtime.context.services.conversations
    if not request.stored:
        return {}
    stored = (request.owner, request.conversation_id, request.message)
    if request.again and request.conversation_id is not None:
        turn = await conversations.last_message(request.owner, request.conversation_id)
        if turn.text != request.message:
            raise UserError("The conversation went on meanwhile. Open it again.")
        runtime.context.accumulator.turn = turn
    elif request.client is not None:
        runtime.context.accumulator.turn = await conversations.add_client_message(
            *stored, request.client, remember=request.remember
        )
    else:
        runtime.context.accumulator.turn = await conversations.add_message(
            *stored, remember=request.remember
        )
    return {}


async def respond(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Generate from the one plan in every mode asked for, one after the other or at once.

    Emits for each mode a FirstToken, TextDeltas and last a Reply. A failure is kept for
    `keep` to raise.
    """
    context, request = runtime.context, state["request"]
    before_ms = (perf_counter() - context.started) * 1000

    async def in_turn() -> None:
        for mode in request.modes:
            await _generate(mode, state, context, before_ms)

    async def at_once() -> None:
        replies = [
            asyncio.create_task(_generate(mode, state, context, before_ms))
            for mode in request.modes
        ]
        try:
            await asyncio.gather(*replies)
        finally:
            for reply in replies:
                reply.cancel()
            await asyncio.wait(replies)

    await context.accumulator.run(at_once() if request.at_once else in_turn())
    return {}


async def keep(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Store what was shown, queue the turn to be remembered, and raise what respond failed with."""
    services, accumulator = runtime.context.services, runtime.context.accumulator
    request, turn = state["request"], accumulator.turn
    if turn is not None:
        try:
            await _store(accumulator, services, replacing=request.again)
        finally:
            if request.remember and not request.again:
                services.remember(turn)
    if accumulator.error is not None:
        raise accumulator.error
    return {}


async def _generate(mode: Mode, state: ReplyState, context: ReplyContext, before_ms: float) -> None:
    # `before_ms` is the time between the user's message and the first call of the engine:
    # in a comparison the second mode does not pay for the first one's generation.
    services, request = context.services, state["request"]
    pieces: list[str] = []
    ttft_ms: float | None = None
    last: Chunk | None = None
    began = perf_counter()
    sampling = request.sampling or services.sampling
    stream = services.memory.generator.stream(state["plan"], mode, sampling)
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            if chunk.text:
                if ttft_ms is None:
                    ttft_ms = (perf_counter() - began) * 1000
                    context.emit(mode, FirstToken(ttft_ms, before_ms + ttft_ms))
                pieces.append(chunk.text)
                context.emit(mode, TextDelta(chunk.text))
            if chunk.usage is not None:
                last = chunk
    if last is None:
        raise EngineError("The engine ended the reply without an account of it.")
    e2el_ms = (perf_counter() - began) * 1000
    ttft_ms = e2el_ms if ttft_ms is None else ttft_ms
    turn = context.accumulator.turn
    conversation = turn.conversation_id if turn else request.conversation_id
    times = (ttft_ms, before_ms + ttft_ms, e2el_ms)
    context.emit(mode, trace(state, mode, "".join(pieces), last, conversation, times))


async def _store(
    accumulator: ReplyAccumulator, services: ReplyServices, *, replacing: bool
) -> None:
    """Store what was shown. A database that is being restarted is waited for."""
    assert accumulator.turn is not None, "only what has a turn is stored"
    deadline = monotonic() + KEEP_S
    kept = trace_to_json(accumulator.reply) if accumulator.reply else None
    while True:
        try:
            await services.conversations.add_reply(
                accumulator.turn,
                accumulator.text,
                accumulator.status,
                trace=kept,
                replacing=replacing,
            )
            return
        except (DatabaseLockedError, DatabaseUnavailableError):
            if monotonic() > deadline:
                raise
            await asyncio.sleep(KEEP_AGAIN_S)
            # The connection may have broken when the reply was stored already.
            replacing = True
