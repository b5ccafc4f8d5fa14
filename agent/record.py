"""Third node of a reply: the user's turn is on disk before the engine is asked."""

from typing import Any

from langgraph.runtime import Runtime

from agent.context import ReplyContext
from agent.records import UserTurn
from agent.state import ReplyState


async def record(state: ReplyState, runtime: Runtime[ReplyContext]) -> dict[str, Any]:
    """Store the message, in a new conversation if it has none, and announce the turn.

    A message that a client sends again is not stored again.
    """
    request = state["request"]
    if not request.stored:
        return {"turn": None}
    transcript = runtime.context.transcript
    place = (request.owner, request.conversation_id, request.message)
    turn: UserTurn | None
    if request.client is None:
        turn = await transcript.add_message(*place, remember=request.remember)
    else:
        turn = await transcript.add_client_message(
            *place, request.client, remember=request.remember
        )
    if turn is not None:
        runtime.stream_writer(turn)
    return {"turn": turn}
