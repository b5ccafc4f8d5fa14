"""The request for a reply."""

from dataclasses import dataclass
from typing import TypedDict

from memory_engine.types import Message, Mode, Sampling


@dataclass(frozen=True, slots=True)
class Client:
    """A program that keeps conversations of its own, as it describes one message.

    `history` are the turns before the message, and `instructions` go to the model as they are:
    nothing is remembered of either. `conversation` is the program's own name for the
    conversation; without it the conversation is known again by its history. `key` tells a
    message that is sent again from a new one; None is always a new one.
    """

    history: tuple[Message, ...] = ()
    instructions: str = ""
    conversation: str | None = None
    key: str | None = None


class ReplyOptions(TypedDict, total=False):
    """The options of a reply that a caller may give; see `Request` for their meaning."""

    conversation_id: str | None
    k: int | None
    remember: bool
    sampling: Sampling | None
    agent: str | None
    again: bool
    client: Client | None


@dataclass(frozen=True, slots=True)
class Request:
    """A message to reply to in each of `modes`; the conversation keeps the reply in `keep`.

    Without `conversation_id` a new conversation begins. `agent` sees the facts of its own
    scope too. `k` is how many facts to recall at most and `sampling` how to choose tokens;
    None is the agent's default. `again`: `message` is the conversation's last one already,
    and the reply takes the place of the one it has. `at_once`: the modes do not wait for one
    another. `client` comes from a program that keeps the history itself.
    """

    owner: str
    message: str
    modes: tuple[Mode, ...]
    keep: Mode
    conversation_id: str | None = None
    k: int | None = None
    remember: bool = True
    sampling: Sampling | None = None
    agent: str | None = None
    again: bool = False
    at_once: bool = False
    client: Client | None = None

    @property
    def stored(self) -> bool:
        """True if the turns are stored: not in an exchange that nothing may remember."""
        return self.remember or self.conversation_id is not None
