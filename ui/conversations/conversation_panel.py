"""Handlers of the conversation list: open, leave, rename, export and delete a conversation."""

import asyncio

from app.public_errors import public_message
from app.service import ChatService
from memory_engine.errors import UserError
from ui.chat.pane import transcript
from ui.chat.reply_history import PastReply, kept_traces
from ui.chat.running_turns import RunningTurns
from ui.chat.trace_view import finished, stopped
from ui.conversations.conversation_list import as_document, conversations_list, file_name
from ui.parts.file_download import as_download
from ui.parts.page_states import (
    SIDE_BY_SIDE,
    Changes,
    Shown,
    error_message,
    exchange_actions,
    idle,
    no_traces,
    status_message,
)
from ui.parts.row_events import Click

# Another conversation: messages about the one before are of no interest in it.
NO_MESSAGES: Changes = {"notice": "", "list_notice": "", "editing": False, "moved_on": True}


class ConversationPanel:
    """Handlers of the conversations of `user`."""

    def __init__(self, service: ChatService, user: str, running: RunningTurns) -> None:
        self._service = service
        self._user = user
        self._running = running

    async def listed(self, conversation_id: str | None, search: str = "") -> Changes:
        """List the conversations in which `search` was said, with the open one marked."""
        found = await self._service.conversations(self._user, search.strip())
        return {"conversations": conversations_list(found, conversation_id, search)}

    async def new(self, tab: str, search: str) -> Changes:
        """Show an empty page. The conversation itself begins with its first message."""
        await self._running.stop(tab, leave=True)
        return {**self._empty(), **await self.listed(None, search)}

    async def once_more(self, moved_on: bool, conversation_id: str | None, mode: str) -> Changes:
        """Draw the panes again after a turn whose tab has gone elsewhere since it began.

        A browser draws the updates of one event in order, those of two as it comes to them: a
        busy one draws what is left of a reply over what took its place. This has to be called
        when all of the reply is drawn.
        """
        return await self._panes(conversation_id, mode) if moved_on else {}

    async def act(
        self, tab: str, click: dict[str, str], mode: str, open_id: str | None, search: str
    ) -> Changes:
        """Do what a click on a row asks for."""
        return {"download": "", **await self._acted(tab, Click(**click), mode, open_id, search)}

    async def _acted(
        self, tab: str, wanted: Click, mode: str, conversation_id: str | None, search: str
    ) -> Changes:
        try:
            if wanted.act == "rename":
                await self._service.rename_conversation(self._user, wanted.id, wanted.text)
                return {
                    "list_notice": status_message("Renamed."),
                    **await self.listed(conversation_id, search),
                }
            if wanted.act == "export":
                return {"list_notice": "", **await self._exported(wanted.id)}
            if wanted.act == "delete":
                return await self._deleted(tab, wanted.id, conversation_id, search)
            return await self.open(tab, wanted.id, mode, search)
        except UserError as error:
            return {
                "list_notice": error_message(public_message(error)),
                **await self.listed(conversation_id, search),
            }

    async def open(self, tab: str, conversation_id: str, mode: str, search: str = "") -> Changes:
        """Show a conversation as SQL keeps it."""
        await self._running.stop(tab, leave=True)
        panes = await self._panes(conversation_id, mode)
        conversations = await self._service.conversations(self._user)
        (memory,) = (each.memory for each in conversations if each.id == conversation_id)
        return {
            **idle(self._service),
            **NO_MESSAGES,
            **panes,
            "conversation_id": conversation_id,
            "memory": memory,
            **await self.listed(conversation_id, search),
        }

    async def set_memory(self, conversation_id: str | None, memory: bool) -> Changes:
        """Use memory in the open conversation, or not; a new one begins as the page says."""
        if conversation_id is not None:
            await self._service.set_memory(self._user, conversation_id, memory=memory)
        return {}

    async def _panes(self, conversation_id: str | None, mode: str) -> Changes:
        if conversation_id is None:
            return _showing([])
        messages = await self._service.messages(self._user, conversation_id)
        replies = await self._service.traces(self._user, conversation_id)
        past = {number: PastReply(reply) for number, reply in replies.items()}
        shown, last = transcript(messages, past), replies.get(len(messages) - 1)
        cut_off = await self._service.cut_off(self._user, conversation_id)
        trace = stopped("") if cut_off else finished(last) if last else ""
        return {
            **_showing(shown),
            "right": shown if mode == SIDE_BY_SIDE else [],
            "left_trace": trace,
            "right_trace": trace if mode == SIDE_BY_SIDE else "",
            # A long conversation has thousands of facts to draw.
            "traces": await asyncio.to_thread(kept_traces, past.values(), whole=True),
        }

    def _empty(self) -> Changes:
        return {
            **idle(self._service),
            **NO_MESSAGES,
            **_showing([]),
            "conversation_id": None,
            "memory": True,
        }

    async def leave(self, tab: str) -> Changes:
        """End the turn of this tab and show an empty page with no conversation in the list."""
        await self._running.stop(tab, leave=True)
        return {**self._empty(), "conversations": conversations_list([], None)}

    async def _deleted(
        self, tab: str, conversation_id: str, open_id: str | None, search: str
    ) -> Changes:
        if conversation_id == open_id:
            await self._running.stop(tab, leave=True)
        count = await self._service.forget_conversation(self._user, conversation_id)
        kept = open_id if open_id != conversation_id else None
        deleted = f"Deleted, and {count} facts with it." if count else "Deleted."
        return {
            **(self._empty() if kept is None else {}),
            "list_notice": status_message(
                deleted if count != 1 else "Deleted, and 1 fact with it."
            ),
            **await self.listed(kept, search),
        }

    async def _exported(self, conversation_id: str) -> Changes:
        conversations = await self._service.conversations(self._user)
        messages = await self._service.messages(self._user, conversation_id)
        (title,) = (each.title for each in conversations if each.id == conversation_id)
        text = as_document(title, messages)
        return {"download": as_download(file_name(title), "text/markdown", text)}


def switched(mode: str, left: Shown, right: Shown) -> Changes:
    """Change the mode of the panes. One pane goes on with what the KV pane showed."""
    if mode == SIDE_BY_SIDE:
        return {"left": left, "right": left, **no_traces()}
    return {"left": right or left, "right": [], **no_traces()}


def _showing(shown: Shown) -> Changes:
    nothing = kept_traces([], whole=True)
    return {"left": shown, "right": [], "traces": nothing, **exchange_actions(shown), **no_traces()}
