"""The list of conversations, and what opening or leaving one does to the page."""

from datetime import UTC, datetime

from agent.transcript import UNTITLED
from app.service import ChatService, Conversation
from ui.pane import Changes, Shown, transcript
from ui.running import Running
from ui.states import SIDE_BY_SIDE, idle, no_account
from ui.text import as_html, day


class Conversations:
    """The conversations of `user`."""

    def __init__(self, service: ChatService, user: str, running: Running) -> None:
        self._service = service
        self._user = user
        self._running = running

    async def listed(self, conversation_id: str | None) -> Changes:
        """The list, with the open conversation marked."""
        found = await self._service.conversations(self._user)
        return {"conversations": _list(found, conversation_id)}

    async def new(self, tab: str) -> Changes:
        """An empty page. The conversation itself begins with its first message."""
        await self._running.stop(tab, leave=True)
        return {
            **idle(self._service),
            **_showing([]),
            "conversation_id": None,
            **await self.listed(None),
        }

    async def open(self, tab: str, conversation_id: str, mode: str) -> Changes:
        """Show a conversation as SQL keeps it."""
        await self._running.stop(tab, leave=True)
        shown = transcript(await self._service.messages(self._user, conversation_id))
        return {
            **idle(self._service),
            **_showing(shown),
            "right": shown if mode == SIDE_BY_SIDE else [],
            "conversation_id": conversation_id,
            **await self.listed(conversation_id),
        }


def switched(mode: str, left: Shown, right: Shown) -> Changes:
    """The panes after a change of mode. One pane goes on with what the KV pane showed."""
    if mode == SIDE_BY_SIDE:
        return {"left": left, "right": left, **no_account()}
    return {"left": right or left, "right": [], **no_account()}


def _showing(shown: Shown) -> Changes:
    return {"left": shown, "right": [], "notice": "", **no_account()}


def _list(conversations: list[Conversation], open_id: str | None) -> str:
    # A conversation without a message has no title yet, and nothing to go back to.
    titled = [each for each in conversations if each.title != UNTITLED or each.id == open_id]
    if not titled:
        return '<p class="quiet">No conversations yet.</p>'
    rows = "".join(_row(each, each.id == open_id) for each in titled)
    return f'<ul class="rows conversations">{rows}</ul>'


def _row(conversation: Conversation, is_open: bool) -> str:
    current = ' aria-current="true"' if is_open else ""
    title = as_html(conversation.title)
    return (
        f'<li><button type="button" data-id="{as_html(conversation.id)}"{current}>'
        f'<span class="title">{title}</span>'
        f'<span class="quiet">{_when(conversation.created_at)}</span></button></li>'
    )


def _when(created_at: datetime) -> str:
    local = created_at.astimezone()
    today = datetime.now(UTC).astimezone().date()
    return f"{local:%H:%M}" if local.date() == today else day(local.date())
