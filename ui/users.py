"""The handlers of the page, made for a user: for each event anew, so that none is shared."""

from app.service import ChatService
from ui.conversations import Conversations
from ui.facts import Facts
from ui.measure import Measuring
from ui.running import Running
from ui.turn import Turns
from ui.upkeep import Upkeep


class Users:
    """What each user's events are handled by."""

    def __init__(self, service: ChatService, running: Running) -> None:
        self._service = service
        self._running = running

    def turns(self, user: str) -> Turns:
        return Turns(self._service, user, self._running)

    def conversations(self, user: str) -> Conversations:
        return Conversations(self._service, user, self._running)

    def facts(self, user: str) -> Facts:
        return Facts(self._service, user)

    def upkeep(self, user: str) -> Upkeep:
        return Upkeep(self._service, user, self.conversations(user).leave)

    def measuring(self, user: str) -> Measuring:
        return Measuring(self._service, user)
