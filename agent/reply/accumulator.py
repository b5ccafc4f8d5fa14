"""What the user has seen of a reply, which is what the transcript keeps of it."""

from agent.entities import TurnStatus, UserTurn
from agent.reply_events import Reply, ReplyEvent, TextDelta
from memory_engine.types import Mode


class ReplyAccumulator:
    """The text shown so far in each mode, and how the one to keep came to its end.

    `failed` is set by whoever sees the engine fail; a reply without an end was stopped.
    """

    def __init__(self, keep: Mode) -> None:
        self._keep = keep
        self._texts: dict[Mode, str] = {}
        self._finished: dict[Mode, Reply] = {}
        self.turn: UserTurn | None = None
        self.failed = False

    def see(self, mode: Mode, event: ReplyEvent) -> None:
        """Take note of an event that goes to the user."""
        if isinstance(event, TextDelta):
            self._texts[mode] = self._texts.get(mode, "") + event.text
        elif isinstance(event, Reply):
            self._finished[mode] = event

    @property
    def kept(self) -> Mode:
        """The mode whose text is kept: the wanted one, or the only one that said anything."""
        return self._keep if self._keep in self._texts else next(iter(self._texts), self._keep)

    @property
    def text(self) -> str:
        return self._texts.get(self.kept, "")

    @property
    def reply(self) -> Reply | None:
        """The kept reply with its account; None for one that was cut off."""
        return self._finished.get(self.kept)

    @property
    def status(self) -> TurnStatus:
        if self.reply is not None:
            return "complete"
        return "failed" if self.failed else "stopped"
