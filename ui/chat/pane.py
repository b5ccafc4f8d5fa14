"""One pane of the chat: what it showed before, the question, and the reply as it grows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.reply_events import FirstToken, Reply, ReplyEvent, TextDelta
from memory_engine.types import Message
from ui.chat import trace_view as account
from ui.chat.reply_history import PastReply
from ui.parts.escaping import as_markdown, verbatim

Changes = dict[str, Any]  # part of the page -> its new value
Shown = list[dict[str, Any]]  # what a gr.Chatbot takes and gives back


@dataclass
class Pane:
    """The pane called `name` ("left" or "right") during one turn."""

    name: str
    before: Shown
    question: str
    text: str = ""
    account: str = field(default_factory=account.waiting)
    past: PastReply | None = None

    @property
    def reply(self) -> Reply | None:
        """The whole reply, once it is there."""
        return self.past.reply if self.past else None

    def take(self, event: ReplyEvent) -> None:
        """Grow by one event."""
        if isinstance(event, TextDelta):
            self.text += event.text
        elif isinstance(event, FirstToken):
            self.account = account.first_token(event)
        else:
            self.past, self.text = PastReply(event), event.reply
            self.account = account.finished(event)

    def end(self) -> None:
        """The turn is over; without a whole reply it was stopped."""
        if self.past is None:
            self.account = account.stopped(self.account)

    def changes(self) -> Changes:
        """What the page must show now."""
        messages = [Message("user", self.question)]
        if self.text:
            messages.append(Message("assistant", self.text))
        past = {1: self.past} if self.past else {}
        shown = [*self.before, *transcript(messages, past)]
        return {self.name: shown, f"{self.name}_account": self.account}


def without_last(shown: Shown) -> Shown:
    """What a pane shows without the last question and what follows it."""
    asked = [n for n, message in enumerate(shown) if message["role"] == "user"]
    return shown[: asked[-1]] if asked else shown


def transcript(messages: Sequence[Message], past: Mapping[int, PastReply]) -> Shown:
    """Messages as a gr.Chatbot shows them: a user's exactly as typed, a reply as Markdown.

    `past` has the replies with an account by their number; a line of it stands below each.
    """
    render = {"user": verbatim, "assistant": as_markdown}
    shown = []
    for number, message in enumerate(messages):
        shown.append({"role": message.role, "content": render[message.role](message.content)})
        if number in past:
            shown.append({"role": "assistant", "content": past[number].line()})
    return shown
