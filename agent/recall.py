"""First node of a reply: the facts that matter to a message."""

from time import perf_counter
from typing import Any

from langgraph.runtime import Runtime

from agent.context import ReplyContext
from agent.state import ReplyState


async def recall(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Recall up to `k` facts of the owner, best first."""
    context, began = runtime.context, perf_counter()
    recalled = []
    if state["k"] > 0:
        await context.holding.ensure(state["owner"])
        recalled = await context.memory.recall(state["owner"], state["message"], state["k"])
    return {"recalled": recalled, "recall_ms": (perf_counter() - began) * 1000}
