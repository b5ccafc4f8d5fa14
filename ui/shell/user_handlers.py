"""Handlers of the page, made for a user and for each event anew, so that none is shared."""

from app.service import ChatService
from ui.chat.running_turns import RunningTurns
from ui.chat.turn import ChatTurns
from ui.conversations.conversation_panel import ConversationPanel
from ui.memory.bulk_panel import BulkPanel
from ui.memory.fact_panel import FactPanel
from ui.timings.three_way import ThreeWayMeasurement


class UserHandlers:
    """Makes the handlers of a user. `shared`: there may be more than one user."""

    def __init__(self, service: ChatService, running: RunningTurns, *, shared: bool) -> None:
        self._service = service
        self._running = running
        self._shared = shared

    def turns(self, user: str) -> ChatTurns:
        return ChatTurns(self._service, user, self._running)

    def conversations(self, user: str) -> ConversationPanel:
        return ConversationPanel(self._service, user, self._running)

    def facts(self, user: str) -> FactPanel:
        return FactPanel(self._service, user)

    def bulk(self, user: str) -> BulkPanel:
        leave = self.conversations(user).leave
        return BulkPanel(self._service, user, leave, shared=self._shared)

    def measuring(self, user: str) -> ThreeWayMeasurement:
        return ThreeWayMeasurement(self._service, user)
