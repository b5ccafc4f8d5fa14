"""One turn of the chat: ask in one mode or in both, and stream what the page shows.

The handlers yield dicts of the named parts of the page that change. The conversation
itself lives in SQL: what the page shows is never sent back to the model.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from agent.reply_events import FirstToken, Reply, ReplyEvent
from app.public_errors import told
from app.service import ChatService
from memory_engine.errors import UserError
from memory_engine.types import Mode
from ui.chat import trace_view as account
from ui.chat.pane import Changes, Pane, Shown, without_last
from ui.chat.reply_history import accounts
from ui.chat.running_turns import Progress, RunningTurns
from ui.chat.update_batches import batches
from ui.parts.page_states import SIDE_BY_SIDE, busy, idle, no_account, notice, offered, said
from ui.timings.timing_chart import Point, compared, with_replies

Event = tuple[Mode, ReplyEvent]
# What Gradio hands over, as the parts of the page are named in `ui.shell.wiring.TURN_INPUTS`.
PageValues = tuple[
    str, str | None, int, Shown, Shown, int | None, bool, Sequence[Point], bool, bool
]

NOTHING_YET = "Nothing was said in this conversation yet."


@dataclass(frozen=True)
class Page:
    """What the page knows when a turn begins; its fields are those of `PageValues`.

    `asked` counts the side-by-side turns, which alternates their order. `left` and
    `right` are what the panes show, kept only to be shown again. `k` is how many facts to
    recall, `editing` says that the message takes the place of the last one, `points` are
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
    points: Sequence[Point]
    at_once: bool
    memory: bool

    def without_last(self) -> "Page":
        """The page without the last exchange."""
        return replace(self, left=without_last(self.left), right=without_last(self.right))


class ChatTurns:
    """Asks for `user`. One instance serves every browser: it holds no conversation."""

    def __init__(self, service: ChatService, user: str, running: RunningTurns) -> None:
        self._service = service
        self._user = user
        self.running = running

    async def take(self, tab: str, message: str) -> Changes:
        """Empty the box for the turn that follows. Raises UserError during another turn."""
        if not await self.running.promise(tab):
            raise UserError("A reply is still being written. Wait for it, or stop it first.")
        return {"taken": message, "prompt": ""}

    async def send(
        self, tab: str, message: str, *page: *PageValues
    ) -> AsyncGenerator[Changes, None]:
        """Ask `message`."""
        turn = self._turn(tab, message, Page(*page))
        async with aclosing(turn) as parts:
            async for changes in parts:
                yield changes

    async def retry(self, tab: str, *page: *PageValues) -> AsyncGenerator[Changes, None]:
        """Reply to the last message again: the new reply takes the place of the old one."""
        now = Page(*page)
        try:
            message = await self._last_message(now)
        except UserError as error:
            yield {"notice": notice(told(error))}
            return
        async with aclosing(self._turn(tab, message, now, again=True)) as parts:
            async for changes in parts:
                yield changes

    async def undo(self, tab: str, *page: *PageValues) -> Changes:
        """Remove the last exchange, with what only it taught."""
        now = Page(*page)
        await self.running.stop(tab)
        try:
            if now.conversation_id is None:
                raise UserError(NOTHING_YET)
            await self._service.undo_exchange(self._user, now.conversation_id)
        except UserError as error:
            return {"notice": notice(told(error))}
        now = now.without_last()
        removed = said("Removed, with what only it taught.")
        return {
            "left": now.left,
            "right": now.right,
            "notice": removed,
            "editing": False,
            **_edit_bar(False),
            **offered(now.left),
            **no_account(),
        }

    async def edit(self, *page: *PageValues) -> Changes:
        """Put the last message back into the box; sending it replaces the exchange."""
        try:
            message = await self._last_message(Page(*page))
        except UserError as error:
            return {"notice": notice(told(error))}
        return {"prompt": message, "editing": True, "notice": "", **_edit_bar(True)}

    async def keep(self) -> Changes:
        """Leave the last message as it is after all."""
        return {"prompt": "", "editing": False, **_edit_bar(False)}

    async def _last_message(self, page: Page) -> str:
        if page.conversation_id is None:
            raise UserError(NOTHING_YET)
        return await self._service.last_message(self._user, page.conversation_id)

    async def stop(self, tab: str) -> Changes:
        """End the turn of this tab; the turn itself shows that it was stopped."""
        await self.running.stop(tab)
        return {"notice": ""}

    async def _turn(
        self, tab: str, message: str, page: Page, *, again: bool = False
    ) -> AsyncGenerator[Changes, None]:
        # The browser may skip all but the last of several changes that arrive together, so
        # each says all that the turn changed. It also repeats the last one when the event is
        # finished, perhaps after its tab went elsewhere: then that one must not say it.
        whole: Changes = {"moved_on": False}
        async with self.running.turn(tab) as progress:
            async with aclosing(self._guarded(message, page, progress, again)) as parts:
                async for changes in parts:
                    whole |= changes
                    if not progress.left:
                        yield dict(whole)
            if progress.left:
                yield idle(self._service)

    async def _guarded(
        self, message: str, page: Page, progress: Progress, again: bool
    ) -> AsyncGenerator[Changes, None]:
        try:
            conversation_id = page.conversation_id
            if conversation_id is None and message.strip():
                # Made here, so that a stopped turn still knows its conversation.
                conversation_id = await self._service.new_conversation(self._user)
                yield {"conversation_id": conversation_id}
            if conversation_id is not None and not page.memory:
                await self._service.set_memory(self._user, conversation_id, memory=False)
            if page.editing and conversation_id is not None:
                await self._service.check(self._user, message)
                await self._service.undo_exchange(self._user, conversation_id)
                page = page.without_last()
                yield {"editing": False, **_edit_bar(False)}
            panes, events = self._start(message, conversation_id, page, again)
            async with aclosing(self._ask(panes, events, page, progress)) as parts:
                async for changes in parts:
                    yield changes
        except Exception as error:
            yield {
                **idle(self._service),
                **no_account(),
                **offered(page.left),
                "prompt": "" if again else message,
                "left": page.left,
                "right": page.right,
                "notice": notice(told(error)) if isinstance(error, UserError) else "",
            }
            if not isinstance(error, UserError):
                raise

    async def _ask(
        self,
        panes: dict[Mode, Pane],
        events: AsyncGenerator[Event, None],
        page: Page,
        progress: Progress,
    ) -> AsyncGenerator[Changes, None]:
        yield {**busy(), "notice": "", "strip": "", **_changes(panes, set(panes))}
        async with aclosing(batches(events, urgent=_is_first, stop=progress.stop)) as groups:
            async for group in groups:
                touched = set()
                for mode, event in group:
                    panes[mode].take(event)
                    touched |= set(panes) if isinstance(event, Reply) else {mode}
                    if isinstance(event, Reply):
                        _begin_next(panes)
                yield _changes(panes, touched)
        for pane in panes.values():
            pane.end()
        replies = [pane.reply for pane in panes.values() if pane.reply]
        # Times of modes that slowed each other down are not compared.
        points = page.points if page.at_once else with_replies(page.points, replies)
        verdict = _verdict(replies, points, page.at_once)
        yield {
            **idle(self._service),
            **offered([{}]),
            **_changes(panes, set(panes)),
            **verdict,
            "accounts": accounts(pane.past for pane in panes.values() if pane.past),
            "asked": page.asked + bool(verdict),
            "points": points,
        }

    def _start(
        self, message: str, conversation_id: str | None, page: Page, again: bool
    ) -> tuple[dict[Mode, Pane], AsyncGenerator[Event, None]]:
        asked: dict[str, Any] = {
            "user": self._user,
            "message": message,
            "conversation_id": conversation_id,
            "k": page.k,
            "again": again,
        }
        if again:
            page = page.without_last()
        if page.mode != SIDE_BY_SIDE:
            mode = Mode(page.mode)
            replies = self._service.reply(mode=mode, **asked)
            return {mode: Pane("left", page.left, message)}, _labelled(mode, replies)
        first, second = (Mode.TEXT, Mode.KV) if page.asked % 2 == 0 else (Mode.KV, Mode.TEXT)
        places = {Mode.TEXT: ("left", page.left), Mode.KV: ("right", page.right)}
        panes = {mode: Pane(*places[mode], message) for mode in (first, second)}
        if not page.at_once:
            panes[second].account = account.queued(first)
        asked |= {"order": (first, second), "at_once": page.at_once}
        both = self._service.compare(**asked)
        return panes, both


def _edit_bar(shown: bool) -> Changes:
    return {"edit_bar": gr.update(visible=shown)}


def _verdict(replies: Sequence[Reply], points: Sequence[Point], at_once: bool) -> Changes:
    if len(replies) != 2:
        return {}
    return {"strip": account.verdict(*replies, at_once=at_once, so_far=compared(points))}


def _changes(panes: dict[Mode, Pane], touched: set[Mode]) -> Changes:
    changes: Changes = {}
    for mode in touched:
        changes |= panes[mode].changes()
    return changes


def _begin_next(panes: dict[Mode, Pane]) -> None:
    for pane in panes.values():
        if pane.reply is None and not pane.text:
            pane.account = account.waiting()


def _is_first(event: Event) -> bool:
    return isinstance(event[1], FirstToken)


async def _labelled(mode: Mode, events: AsyncIterator[ReplyEvent]) -> AsyncGenerator[Event, None]:
    async with aclosing(events) as replies:  # type: ignore[type-var]
        async for event in replies:
            yield mode, event
