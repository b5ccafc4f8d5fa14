"""Second node of a reply: the prompt, from facts, exact history and message."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from langgraph.runtime import Runtime

from agent.graph_context import ReplyContext
from agent.graph_state import ReplyState
from memory_engine.types import Message


async def plan(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Lay out the prompt. Raises MessageTooLongError and NotFoundError: nothing is stored yet."""
    context, request, began = runtime.context, state["request"], perf_counter()
    history: Sequence[Message] = ()
    if request.client is not None:
        history = request.client.history
    elif request.conversation_id is not None:
        history = await context.conversations.messages(
            request.owner, request.conversation_id, before_last=request.again
        )
    laid_out = context.memory.plan(
        request.owner,
        state["recalled"],
        history,
        request.message,
        context.sampling.max_tokens,
        instructions=request.client.instructions if request.client else "",
    )
    return {"plan": laid_out, "plan_ms": (perf_counter() - began) * 1000}
