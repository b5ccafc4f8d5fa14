"""The reply graph: its nodes in order, and a message that is stored until its reply is kept."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from agent.entities import UserTurn
from agent.reply.reply_graph import reply_graph
from agent.reply_events import TextDelta
from agent.request import Request
from memory_engine.errors import (
    EngineStoppedError,
    MessageTooLongError,
)
from memory_engine.types import Message, Mode
from tests.agent.agent_builder import Parts, opened, url_of

NODES = ["place", "switch_memory", "catch_up", "recall", "plan", "record", "respond", "keep"]


def asked(message: str) -> Request:
    return Request("ann", message, (Mode.KV,), Mode.KV)


async def stored(parts: Parts) -> list[Message]:
    conversations = await parts.service.conversations("ann")
    return [m for c in conversations for m in await parts.service.messages("ann", c.id)]


def test_the_nodes_follow_one_another() -> None:
    graph = reply_graph().get_graph()
    ways = {edge.source: edge.target for edge in graph.edges}
    assert [ways[node] for node in ("__start__", *NODES)] == [*NODES, "__end__"]


async def test_a_reader_who_leaves_before_the_message_is_stored_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        waiting, go_on = asyncio.Event(), asyncio.Event()
        ensure = parts.agent._memory_sync.ensure

        async def slow(owner: str) -> None:
            waiting.set()
            await go_on.wait()
            await ensure(owner)

        monkeypatch.setattr(parts.agent._memory_sync, "ensure", slow)
        reply = parts.agent.replies.reply(asked("I ski."))
        reading = asyncio.create_task(anext(reply))
        await waiting.wait()
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        go_on.set()
        monkeypatch.undo()
        assert await stored(parts) == []
        assert parts.agent.to_remember == 0


async def test_a_reader_who_is_cancelled_leaves_what_was_shown_and_a_turn_to_remember(
    tmp_path: Path,
) -> None:
    async with opened(url_of(tmp_path), delay=0.01) as parts:
        await parts.service.start()
        shown = asyncio.Event()

        async def read() -> None:
            async for _, event in parts.agent.replies.reply(asked("I ski.")):
                if isinstance(event, TextDelta):
                    shown.set()

        reading = asyncio.create_task(read())
        await shown.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await parts.service.settle("ann")
        said, replied = await stored(parts)
        assert said == Message("user", "I ski.")
        assert "All right then.".startswith(replied.content.strip())
        assert await parts.known() == ["I ski."]


async def test_a_failing_engine_is_told_when_the_message_is_kept(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.settle("ann")
        parts.engine.running = False
        with pytest.raises(EngineStoppedError):
            async for _ in parts.agent.replies.reply(asked("I ski.")):
                pass
        assert await stored(parts) == [Message("user", "I ski.")]
        parts.engine.running = True


async def test_a_prompt_that_cannot_be_laid_out_stores_nothing(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path), max_model_len=300) as parts:
        with pytest.raises(MessageTooLongError):
            async for _ in parts.agent.replies.reply(asked("ski " * 300)):
                pass
        assert await stored(parts) == []


async def test_a_turn_is_queued_to_be_remembered_even_if_its_reply_cannot_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url_of(tmp_path)) as parts:
        queued: list[UserTurn] = []

        async def broken(*_: object, **__: object) -> None:
            raise RuntimeError("no")

        monkeypatch.setattr(parts.agent.conversations, "add_reply", broken)
        monkeypatch.setattr(parts.agent._remember_worker, "put", queued.append)
        object.__setattr__(parts.agent._services, "remember", queued.append)
        with pytest.raises(RuntimeError, match="no"):
            async for _ in parts.agent.replies.reply(asked("I ski.")):
                pass
        assert [turn.text for turn in queued] == ["I ski."]


async def test_stop_aborts_the_engine_and_keeps_what_was_shown(database_url: str) -> None:
    async with opened(database_url, reply=lambda prompt: "one two three four", delay=0.01) as parts:
        replies = parts.service.reply(user="ann", message="I live in Bern.", mode=Mode.KV)
        shown = ""
        async for event in replies:
            shown += event.text if isinstance(event, TextDelta) else ""
            if shown == "one two":
                break
        await replies.aclose()
        assert parts.engine.aborted == 1
        (conversation,) = await parts.service.conversations("ann")
        messages = await parts.service.messages("ann", conversation.id)
        assert messages == [Message("user", "I live in Bern."), Message("assistant", "one two")]
        assert await parts.service.cut_off("ann", conversation.id)
        await parts.say("And now?", conversation_id=conversation.id)
        assert not await parts.service.cut_off("ann", conversation.id)
        await parts.service.settle("ann")
        assert await parts.known() == ["I live in Bern."]


async def test_a_cancelled_task_aborts_the_engine_and_keeps_what_was_shown(
    database_url: str,
) -> None:
    async with opened(database_url, reply=lambda prompt: "a b c d e f", delay=0.02) as parts:
        began = asyncio.Event()

        async def consume() -> None:
            async for event in parts.service.reply(user="ann", message="Hi", mode=Mode.TEXT):
                if isinstance(event, TextDelta):
                    began.set()

        task = asyncio.create_task(consume())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await parts.service.settle()
        assert parts.engine.aborted == 1
        (conversation,) = await parts.service.conversations("ann")
        roles = [m.role for m in await parts.service.messages("ann", conversation.id)]
        assert roles == ["user", "assistant"]


async def test_an_engine_that_dies_leaves_the_turn_and_raises(database_url: str) -> None:
    async with opened(database_url, reply=lambda prompt: "a b c", delay=0.01) as parts:

        async def until_it_dies() -> None:
            async for event in parts.service.reply(user="ann", message="I ski.", mode=Mode.TEXT):
                if isinstance(event, TextDelta):
                    parts.engine.running = False

        with pytest.raises(EngineStoppedError):
            await until_it_dies()
        parts.engine.running = True
        (conversation,) = await parts.service.conversations("ann")
        messages = await parts.service.messages("ann", conversation.id)
        assert messages[0] == Message("user", "I ski.")
        await parts.service.settle("ann")
        assert await parts.known() == ["I ski."]


async def test_stopping_a_comparison_keeps_what_was_shown_so_far(database_url: str) -> None:
    async with opened(database_url, reply=lambda prompt: "one two", delay=0.01) as parts:
        replies = parts.service.compare(user="ann", message="Hello")
        async for mode, event in replies:
            if mode is Mode.TEXT and isinstance(event, TextDelta):
                break
        await replies.aclose()
        (conversation,) = await parts.service.conversations("ann")
        messages = await parts.service.messages("ann", conversation.id)
        assert messages == [Message("user", "Hello"), Message("assistant", "one")]


async def test_a_reply_without_a_word_is_a_reply(database_url: str) -> None:
    async with opened(database_url, reply=lambda prompt: "") as parts:
        reply = await parts.ask("Hello")
        assert reply.reply == ""
        assert reply.conversation_id is not None
        assert await parts.service.messages("ann", reply.conversation_id) == [
            Message("user", "Hello")
        ]
