"""First node of a reply: the facts that matter to a message."""

import asyncio
from time import perf_counter
from typing import Any

from langgraph.runtime import Runtime

from agent.db.utc import utc_now
from agent.extraction.english.periods import periods
from agent.graph_context import ReplyContext
from agent.graph_state import ReplyState
from memory_engine.types import Scope


async def recall(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Recall up to `k` facts of the owner that this conversation may see, best first."""
    context, request, began = runtime.context, state["request"], perf_counter()
    k = context.recall_k if request.k is None else request.k
    recalled = []
    context.memory.expect_reply(request.owner)
    if k > 0:
        await context.memory_sync.ensure(request.owner)
        named = await asyncio.to_thread(periods, request.message, utc_now(), context.zone)
        scope = Scope(request.agent, request.conversation_id)
        recalled = await context.memory.recall(request.owner, request.message, k, scope, named)
    return {"recalled": recalled, "recall_ms": (perf_counter() - began) * 1000}
