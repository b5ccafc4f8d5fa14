"""The handlers of the page, made for a user: for each event anew, so that none is shared."""

from app.service import ChatService
from ui.chat.running_turns import Running
from ui.chat.turn import Turns
from ui.conversations.conversation_panel import Conversations
from ui.memory.bulk_panel import Upkeep
from ui.memory.fact_panel import Facts
from ui.timings.three_way import Measuring


class Users:
    """What each user's events are handled by. `shared`: there may be more than one user."""

    def __init__(self, service: ChatService, running: Running, *, shared: bool) -> None:
        self._service = service
        self._running = running
        self._shared = shared

    def turns(self, user: str) -> Turns:
        return Turns(self._service, user, self._running)

    def conversations(self, user: str) -> Conversations:
        return Conversations(self._service, user, self._running)

    def facts(self, user: str) -> Facts:
        return Facts(self._service, user)

    def upkeep(self, user: str) -> Upkeep:
        leave = self.conversations(user).leave
        return Upkeep(self._service, user, leave, shared=self._shared)

    def measuring(self, user: str) -> Measuring:
        return Measuring(self._service, user)
