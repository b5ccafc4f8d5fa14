"""Third node of a reply: the user's turn is on disk before the engine is asked."""

from typing import Any

from langgraph.runtime import Runtime

from agent.entities import UserTurn
from agent.graph_context import ReplyContext
from agent.graph_state import ReplyState
from memory_engine.errors import UserError


async def record(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Store the message, in a new conversation if it has none, and announce the turn.

    A message that is replied to again, or that a program sends again, is stored already.
    """
    request = state["request"]
    if not request.stored:
        return {"turn": None}
    transcript = runtime.context.conversations
    place = (request.owner, request.conversation_id, request.message)
    turn: UserTurn | None
    if request.again and request.conversation_id is not None:
        turn = await transcript.last_message(request.owner, request.conversation_id)
        if turn.text != request.message:
            raise UserError("The conversation went on meanwhile. Open it again.")
    elif request.client is not None:
        turn = await transcript.add_client_message(
            *place, request.client, remember=request.remember
        )
    else:
        turn = await transcript.add_message(*place, remember=request.remember)
    if turn is not None:
        runtime.stream_writer(turn)
    return {"turn": turn}
