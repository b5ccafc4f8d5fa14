"""One turn of the chat: ask in one mode or in both, and stream what the page shows.

The handlers yield dicts of the named parts of the page that change. The conversation
itself lives in SQL: what the page shows is never sent back to the model.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from agent.events import FirstToken, Reply, ReplyEvent
from app.service import ChatService
from memory_engine.errors import UserError
from memory_engine.types import Mode
from ui import account
from ui.pane import Changes, Pane, Shown
from ui.running import Progress, Running
from ui.states import SIDE_BY_SIDE, busy, idle, no_account, notice
from ui.stream import batches

Event = tuple[Mode, ReplyEvent]


@dataclass(frozen=True)
class Page:
    """What the page knows when a turn begins.

    `asked` counts the side-by-side turns, which alternates their order. `left` and
    `right` are what the panes show, kept only to be shown again.
    """

    mode: str
    conversation_id: str | None
    asked: int
    left: Shown
    right: Shown


class Turns:
    """Asks for `user`. One instance serves every browser: it holds no conversation."""

    def __init__(self, service: ChatService, user: str, running: Running) -> None:
        self._service = service
        self._user = user
        self.running = running

    async def take(self, tab: str, message: str) -> Changes:
        """Empty the box for the turn that follows. Raises UserError during another turn."""
        if not await self.running.free(tab):
            raise UserError("A reply is still being written. Wait for it, or stop it first.")
        return {"taken": message, "prompt": ""}

    async def send(self, tab: str, message: str, *page: object) -> AsyncGenerator[Changes, None]:
        """Ask `message`; the rest are the values of `Page`, in its order."""
        turn = self._turn(tab, message, Page(*page))  # type: ignore[arg-type]
        async with aclosing(turn) as parts:
            async for changes in parts:
                yield changes

    async def retry(self, tab: str, *page: object) -> AsyncGenerator[Changes, None]:
        """Ask the last question of the conversation again, as a new turn."""
        now = Page(*page)  # type: ignore[arg-type]
        messages = (
            await self._service.messages(self._user, now.conversation_id)
            if now.conversation_id
            else []
        )
        questions = [message.content for message in messages if message.role == "user"]
        if not questions:
            yield {"notice": notice("There is nothing to ask again yet.")}
            return
        async with aclosing(self._turn(tab, questions[-1], now)) as parts:
            async for changes in parts:
                yield changes

    async def stop(self, tab: str) -> Changes:
        """End the turn of this tab; the turn itself shows that it was stopped."""
        await self.running.stop(tab)
        return {"notice": ""}

    async def _turn(self, tab: str, message: str, page: Page) -> AsyncGenerator[Changes, None]:
        # The browser may skip all but the last of several changes that arrive together, so
        # each says all that the turn changed. It also repeats the last one when the event is
        # finished, perhaps after its tab went elsewhere: then that one must not say it.
        whole: Changes = {}
        async with self.running.turn(tab) as progress:
            async with aclosing(self._guarded(message, page, progress)) as parts:
                async for changes in parts:
                    whole |= changes
                    if not progress.left:
                        yield dict(whole)
            if progress.left:
                yield idle(self._service)

    async def _guarded(
        self, message: str, page: Page, progress: Progress
    ) -> AsyncGenerator[Changes, None]:
        try:
            conversation_id = page.conversation_id
            if conversation_id is None and message.strip():
                # Made here, so that a stopped turn still knows its conversation.
                conversation_id = await self._service.new_conversation(self._user)
                yield {"conversation_id": conversation_id}
            async with aclosing(self._ask(message, conversation_id, page, progress)) as parts:
                async for changes in parts:
                    yield changes
        except Exception as error:
            yield {
                **idle(self._service),
                **no_account(),
                "prompt": message,
                "left": page.left,
                "right": page.right,
                "notice": notice(str(error)) if isinstance(error, UserError) else "",
            }
            if not isinstance(error, UserError):
                raise

    async def _ask(
        self, message: str, conversation_id: str | None, page: Page, progress: Progress
    ) -> AsyncGenerator[Changes, None]:
        panes, events = self._start(message, conversation_id, page)
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
        verdict = _verdict(panes)
        yield {
            **idle(self._service),
            **_changes(panes, set(panes)),
            **verdict,
            "asked": page.asked + bool(verdict),
        }

    def _start(
        self, message: str, conversation_id: str | None, page: Page
    ) -> tuple[dict[Mode, Pane], AsyncGenerator[Event, None]]:
        if page.mode != SIDE_BY_SIDE:
            mode = Mode(page.mode)
            replies = self._service.reply(
                user=self._user, message=message, mode=mode, conversation_id=conversation_id
            )
            return {mode: Pane("left", page.left, message)}, _labelled(mode, replies)
        first, second = (Mode.TEXT, Mode.KV) if page.asked % 2 == 0 else (Mode.KV, Mode.TEXT)
        places = {Mode.TEXT: ("left", page.left), Mode.KV: ("right", page.right)}
        panes = {mode: Pane(*places[mode], message) for mode in (first, second)}
        panes[second].account = account.queued(first)
        both = self._service.compare(
            user=self._user,
            message=message,
            conversation_id=conversation_id,
            order=(first, second),
        )
        return panes, both


def _verdict(panes: dict[Mode, Pane]) -> Changes:
    replies = [pane.reply for pane in panes.values() if pane.reply]
    return {"strip": account.verdict(*replies)} if len(replies) == 2 else {}


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
