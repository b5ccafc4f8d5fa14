"""The inputs of a turn: the values of the page that Gradio hands to a handler."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from memory_engine.types import Mode
from ui.chat.pane import without_last
from ui.chat.reply_times import ReplyTime
from ui.parts.page_states import SIDE_BY_SIDE, Shown


@dataclass(frozen=True)
class Page:
    """The page as it is when a turn begins; its fields are named as the parts they come from.

    `asked` counts the side-by-side turns, which alternates their order. `left` and
    `right` are what the panes show, kept only to be shown again. `k` is how many facts to
    recall, `editing` says that the message takes the place of the last one, `reply_times` are
    the times so far. `at_once`: side by side, neither mode waits for the other. `memory`: what
    the page says of memory in this conversation, which SQL may not know yet.
    """

    mode: str
    conversation_id: str | None
    asked: int
    left: Shown
    right: Shown
    k: int | None
    editing: bool
    reply_times: Sequence[ReplyTime]
    at_once: bool
    memory: bool

    @classmethod
    def inputs(cls) -> tuple[str, ...]:
        """The names of the parts to hand over, in the order in which `Page` takes them."""
        return tuple(field.name for field in fields(cls))

    @property
    def order(self) -> tuple[Mode, ...]:
        """The modes to ask, in order: one, or side by side both in turns."""
        if self.mode != SIDE_BY_SIDE:
            return (Mode(self.mode),)
        return (Mode.TEXT, Mode.KV) if self.asked % 2 == 0 else (Mode.KV, Mode.TEXT)

    def without_last(self) -> "Page":
        """The page without the last exchange."""
        return replace(self, left=without_last(self.left), right=without_last(self.right))
