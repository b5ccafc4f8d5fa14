"""Turns of the chat: ask in one mode or in both, and stream what the page shows.

The handlers give dicts of the named parts of the page that change. The conversation
itself lives in SQL: what the page shows is never sent back to the model. A turn is
`ChatTurns.send` or `retry`, then `_turn`, which owns what Gradio needs, then `_ask`, which
is the turn from top to bottom.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import gradio as gr

from agent.reply_events import FirstToken, ReplyEvent
from app.public_errors import public_message
from app.service import ChatService
from memory_engine.errors import UserError
from memory_engine.types import Mode
from ui.chat import trace_view
from ui.chat.page import Page
from ui.chat.pane import Event, Pane, Panes
from ui.chat.reply_history import PastReply, kept_traces
from ui.chat.reply_times import comparison, with_replies
from ui.chat.running_turns import RunningTurns
from ui.chat.update_batches import batches
from ui.parts.page_states import (
    Changes,
    busy,
    error_message,
    exchange_actions,
    idle,
    no_traces,
    status_message,
)

NOTHING_YET = "Nothing was said in this conversation yet."


class ChatTurns:
    """Handlers of the chat for `user`; they hold no conversation. `page` is that of `Page`."""

    def __init__(self, service: ChatService, user: str, running: RunningTurns) -> None:
        self._service = service
        self._user = user
        self.running = running

    async def take(self, tab: str, message: str) -> Changes:
        """Empty the box for the turn that follows. Raises UserError during another turn."""
        if not await self.running.promise(tab):
            raise UserError("A reply is still being written. Wait for it, or stop it first.")
        return {"taken": message, "prompt": ""}

    async def send(self, tab: str, message: str, *page: Any) -> AsyncGenerator[Changes, None]:
        """Ask `message`."""
        async with aclosing(self._turn(tab, message, Page(*page))) as steps:
            async for changes in steps:
                yield changes

    async def retry(self, tab: str, *page: Any) -> AsyncGenerator[Changes, None]:
        """Reply to the last message again: the new reply takes the place of the old one."""
        now = Page(*page)
        try:
            message = await self._last_message(now)
        except UserError as error:
            yield {"notice": error_message(public_message(error))}
            return
        async with aclosing(self._turn(tab, message, now, again=True)) as steps:
            async for changes in steps:
                yield changes

    async def undo(self, tab: str, *page: Any) -> Changes:
        """Remove the last exchange, with what only it taught."""
        now = Page(*page)
        await self.running.stop(tab)
        try:
            if now.conversation_id is None:
                raise UserError(NOTHING_YET)
            await self._service.undo_exchange(self._user, now.conversation_id)
        except UserError as error:
            return {"notice": error_message(public_message(error))}
        now = now.without_last()
        return {
            "left": now.left,
            "right": now.right,
            "notice": status_message("Removed, with what only it taught."),
            "editing": False,
            **_edit_bar(False),
            **exchange_actions(now.left),
            **no_traces(),
        }

    async def edit(self, *page: Any) -> Changes:
        """Put the last message back into the box; sending it replaces the exchange."""
        try:
            message = await self._last_message(Page(*page))
        except UserError as error:
            return {"notice": error_message(public_message(error))}
        return {"prompt": message, "editing": True, "notice": "", **_edit_bar(True)}

    async def keep(self) -> Changes:
        """Leave the last message as it is after all."""
        return {"prompt": "", "editing": False, **_edit_bar(False)}

    async def stop(self, tab: str) -> Changes:
        """End the turn of this tab; the turn itself shows that it was stopped."""
        await self.running.stop(tab)
        return {"notice": ""}

    async def _last_message(self, page: Page) -> str:
        if page.conversation_id is None:
            raise UserError(NOTHING_YET)
        return await self._service.last_message(self._user, page.conversation_id)

    async def _turn(
        self, tab: str, message: str, page: Page, *, again: bool = False
    ) -> AsyncGenerator[Changes, None]:
        # The browser may skip all but the last of several changes that arrive together, so
        # each says all that the turn changed. It also repeats the last one when the event is
        # finished, perhaps after its tab went elsewhere: then that one must not say it.
        whole: Changes = {"moved_on": False}
        async with self.running.turn(tab) as progress:
            async with aclosing(self._ask(message, page, progress.stop, again)) as steps:
                async for changes in steps:
                    whole |= changes
                    if not progress.left:
                        yield dict(whole)
            if progress.left:
                yield idle(self._service)

    async def _ask(
        self, message: str, page: Page, stop: asyncio.Event, again: bool
    ) -> AsyncGenerator[Changes, None]:
        try:
            if page.conversation_id is None and message.strip():
                # Made here, so that a stopped turn still knows its conversation.
                made = await self._service.new_conversation(self._user)
                page = replace(page, conversation_id=made)
                yield {"conversation_id": made}
            if page.conversation_id is not None and not page.memory:
                await self._service.set_memory(self._user, page.conversation_id, memory=False)
            if page.editing and page.conversation_id is not None:
                await self._service.check(self._user, message)
                await self._service.undo_exchange(self._user, page.conversation_id)
                page = page.without_last()
                yield {"editing": False, **_edit_bar(False)}
            panes = _panes(message, page.without_last() if again else page)
            yield {**busy(), "notice": "", "strip": "", **panes.changes()}
            events = self._replies(message, page, again)
            async with aclosing(batches(events, urgent=_is_first, stop=stop)) as groups:
                async for group in groups:
                    yield panes.take(group)
            past = panes.end()
            yield {**idle(self._service), **panes.changes(), **_ended(page, past)}
        except Exception as error:
            yield {**idle(self._service), **_failed(error, page, "" if again else message)}
            if not isinstance(error, UserError):
                raise

    def _replies(self, message: str, page: Page, again: bool) -> AsyncGenerator[Event, None]:
        asked: dict[str, Any] = {
            "user": self._user,
            "message": message,
            "conversation_id": page.conversation_id,
            "k": page.k,
            "again": again,
        }
        if len(page.order) == 1:
            (mode,) = page.order
            return _labelled(mode, self._service.reply(mode=mode, **asked))
        return self._service.compare(order=page.order, at_once=page.at_once, **asked)


def _panes(message: str, page: Page) -> Panes:
    """The panes of a turn: one mode has the left one, of two Text has it."""
    first, *second = page.order
    if not second:
        return Panes({first: Pane("left", page.left, message)})
    places = {Mode.TEXT: ("left", page.left), Mode.KV: ("right", page.right)}
    panes = {mode: Pane(*places[mode], message) for mode in page.order}
    if not page.at_once:
        panes[second[0]].trace = trace_view.queued(first)
    return Panes(panes)


def _ended(page: Page, past: list[PastReply]) -> Changes:
    """The rest of the page after a turn that did not fail, with the replies that are whole."""
    replies = [each.reply for each in past]
    # Times of modes that slowed each other down are not compared.
    times = page.reply_times if page.at_once else with_replies(page.reply_times, replies)
    changes: Changes = {
        **exchange_actions([{}]),
        "traces": kept_traces(past),
        "asked": page.asked,
        "reply_times": times,
    }
    if len(replies) == 2:
        so_far = comparison(times)
        strip = trace_view.verdict(*replies, at_once=page.at_once, so_far=so_far)
        changes |= {"strip": strip, "asked": page.asked + 1}
    return changes


def _failed(error: Exception, page: Page, message: str) -> Changes:
    """The page as it was, with `message` back in the box, and the reason if users can mend it."""
    return {
        **no_traces(),
        **exchange_actions(page.left),
        "prompt": message,
        "left": page.left,
        "right": page.right,
        "notice": error_message(public_message(error)) if isinstance(error, UserError) else "",
    }


def _edit_bar(shown: bool) -> Changes:
    return {"edit_bar": gr.update(visible=shown)}


def _is_first(event: Event) -> bool:
    return isinstance(event[1], FirstToken)


async def _labelled(
    mode: Mode, events: AsyncGenerator[ReplyEvent, None]
) -> AsyncGenerator[Event, None]:
    async with aclosing(events):
        async for event in events:
            yield mode, event
