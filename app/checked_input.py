"""Checks of what callers send: texts, names and the options of a reply."""

from agent.owner import agent_name, owner_name
from agent.request import ReplyOptions, Request
from agent.text import storable
from memory_engine.errors import EmptyMessageError
from memory_engine.types import Mode


def reply_request(
    user: str,
    message: str,
    modes: tuple[Mode, ...],
    keep: Mode,
    options: ReplyOptions,
    *,
    at_once: bool = False,
) -> Request:
    """The request for a reply in `modes`. Raises UserError for a name, or EmptyMessageError."""
    agent = options.get("agent")
    named: ReplyOptions = {**options, "agent": None if agent is None else agent_name(agent)}
    text = message_text(message)
    return Request(owner_name(user), text, modes, keep, at_once=at_once, **named)


def message_text(message: str) -> str:
    """`message` as it can be stored. Raises EmptyMessageError where nothing is left."""
    text = storable(message)
    if not text.strip():
        raise EmptyMessageError("The message is empty. Write something first.")
    return text
