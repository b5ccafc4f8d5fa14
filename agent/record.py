"""Third node of a reply: the user's turn is on disk before the engine is asked."""

from typing import Any

from langgraph.runtime import Runtime

from agent.context import ReplyContext
from agent.state import ReplyState


async def record(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Store the message, in a new conversation if it has none, and announce the turn."""
    request = state["request"]
    if not request.stored:
        return {"turn": None}
    turn = await runtime.context.transcript.add_message(
        request.owner, request.conversation_id, request.message, remember=request.remember
    )
    runtime.stream_writer(turn)
    return {"turn": turn}
