"""One pane of the chat: what it showed before, the question, and the reply as it grows."""

from dataclasses import dataclass, field
from typing import Any

from agent.events import FirstToken, Reply, ReplyEvent, TextDelta
from memory_engine.types import Message
from ui import account
from ui.text import as_markdown, verbatim

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
    reply: Reply | None = None

    def take(self, event: ReplyEvent) -> None:
        """Grow by one event."""
        if isinstance(event, TextDelta):
            self.text += event.text
        elif isinstance(event, FirstToken):
            self.account = account.first_token(event)
        else:
            self.reply, self.text = event, event.reply
            self.account = account.finished(event)

    def end(self) -> None:
        """The turn is over; without a whole reply it was stopped."""
        if self.reply is None:
            self.account = account.stopped(self.account)

    def changes(self) -> Changes:
        """What the page must show now."""
        shown = [*self.before, *transcript([Message("user", self.question)])]
        if self.text:
            shown += transcript([Message("assistant", self.text)])
        return {self.name: shown, f"{self.name}_account": self.account}


def without_last(shown: Shown) -> Shown:
    """What a pane shows without the last question and what follows it."""
    asked = [n for n, message in enumerate(shown) if message["role"] == "user"]
    return shown[: asked[-1]] if asked else shown


def transcript(messages: list[Message]) -> Shown:
    """Messages as a gr.Chatbot shows them: a user's exactly as typed, a reply as Markdown."""
    render = {"user": verbatim, "assistant": as_markdown}
    return [{"role": m.role, "content": render[m.role](m.content)} for m in messages]
