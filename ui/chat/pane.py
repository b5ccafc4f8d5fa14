"""The panes of the chat: what each showed before, the question, and the reply as it grows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.reply_events import FirstToken, Reply, ReplyEvent, TextDelta
from memory_engine.types import Message, Mode
from ui.chat import trace_view
from ui.chat.reply_history import PastReply
from ui.parts.escaping import as_markdown, verbatim
from ui.parts.page_states import Changes, Shown

Event = tuple[Mode, ReplyEvent]


@dataclass
class Pane:
    """The pane called `name` ("left" or "right") during one turn."""

    name: str
    before: Shown
    question: str
    text: str = ""
    trace: str = field(default_factory=trace_view.waiting)
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
            self.trace = trace_view.first_token(event)
        else:
            self.past, self.text = PastReply(event), event.reply
            self.trace = trace_view.finished(event)

    def end(self) -> None:
        """End the turn; without a whole reply it was stopped."""
        if self.past is None:
            self.trace = trace_view.stopped(self.trace)

    def changes(self) -> Changes:
        """The pane as the page must show it now."""
        messages = [Message("user", self.question)]
        if self.text:
            messages.append(Message("assistant", self.text))
        past = {1: self.past} if self.past else {}
        shown = [*self.before, *transcript(messages, past)]
        return {self.name: shown, f"{self.name}_trace": self.trace}


class Panes:
    """The panes of one turn by mode, in the order in which the modes are asked."""

    def __init__(self, panes: Mapping[Mode, Pane]) -> None:
        self._panes = panes

    def take(self, events: Iterable[Event]) -> Changes:
        """Grow by several events; the changes of the panes that they touch."""
        touched: set[Mode] = set()
        for mode, event in events:
            self._panes[mode].take(event)
            touched.add(mode)
            if isinstance(event, Reply):
                self._begin_next()
                touched.update(self._panes)
        return self.changes(touched)

    def end(self) -> list[PastReply]:
        """End the turn in every pane; the replies that are whole."""
        for pane in self._panes.values():
            pane.end()
        return [pane.past for pane in self._panes.values() if pane.past]

    def changes(self, modes: Collection[Mode] | None = None) -> Changes:
        """The panes of `modes`, without them all, as the page must show them now."""
        changes: Changes = {}
        for mode, pane in self._panes.items():
            if modes is None or mode in modes:
                changes |= pane.changes()
        return changes

    def _begin_next(self) -> None:
        for pane in self._panes.values():
            if pane.reply is None and not pane.text:
                pane.trace = trace_view.waiting()


def without_last(shown: Shown) -> Shown:
    """The messages of a pane without the last question and what follows it."""
    asked = [n for n, message in enumerate(shown) if message["role"] == "user"]
    return shown[: asked[-1]] if asked else shown


def transcript(messages: Sequence[Message], past: Mapping[int, PastReply]) -> Shown:
    """Messages as a gr.Chatbot shows them: a user's exactly as typed, a reply as Markdown.

    `past` has the replies with a trace by their number; a line of it stands below each.
    """
    render = {"user": verbatim, "assistant": as_markdown}
    shown = []
    for number, message in enumerate(messages):
        shown.append({"role": message.role, "content": render[message.role](message.content)})
        if number in past:
            shown.append({"role": "assistant", "content": past[number].line()})
    return shown
