"""The service: replies, transcript, stop, and what comes in from outside."""

import asyncio
from typing import Any

import pytest

from agent.reply_events import FirstToken, Reply, TextDelta
from memory_engine.errors import (
    EmptyMessageError,
    EngineStoppedError,
    MessageTooLongError,
    NotFoundError,
    UnsupportedModelError,
    UserError,
)
from memory_engine.types import Message, Mode
from tests.agent.agent_builder import opened
from tests.agent.fake_memory import text_of


async def test_a_fact_told_in_one_conversation_is_in_the_prompt_of_the_next(
    database_url: str,
) -> None:
    async with opened(database_url, reply=text_of) as parts:
        first = await parts.say("My dog is called Biscuit")
        second = await parts.ask("What is my dog called?")
    assert second.conversation_id != first.conversation_id
    assert [(f.text, f.injected) for f in second.facts] == [("My dog is called Biscuit.", True)]
    assert "My dog is called Biscuit." in second.reply


async def test_a_fact_is_known_after_a_restart(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("My dog is called Biscuit")
    async with opened(database_url) as parts:
        reply = await parts.ask("What is my dog called?")
    assert [f.text for f in reply.facts] == ["My dog is called Biscuit."]


async def test_events_come_in_order_and_the_account_adds_up(database_url: str) -> None:
    async with opened(database_url, delay=0.002) as parts:
        await parts.service.add_fact("ann", "I like plums.")
        events = [e async for e in parts.service.reply(user="ann", message="Plums?", mode=Mode.KV)]
    assert isinstance(events[0], FirstToken)
    assert all(isinstance(e, TextDelta) for e in events[1:-1])
    reply = events[-1]
    assert isinstance(reply, Reply)
    assert reply.prompt_tokens == (
        reply.injected_tokens + reply.cached_tokens + reply.prefilled_tokens
    )
    assert reply.injected_tokens > 0
    assert (reply.ttft_ms, reply.e2e_ttft_ms) == (events[0].ttft_ms, events[0].e2e_ttft_ms)
    assert reply.e2e_ttft_ms > reply.ttft_ms >= 2
    assert reply.tpot_ms >= 2
    assert reply.e2e_ttft_ms >= reply.timings.recall_ms + reply.timings.plan_ms + reply.ttft_ms


async def test_text_mode_counts_no_fact_as_injected(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "I like plums.")
        reply = await parts.ask("Plums?", mode=Mode.TEXT)
    assert [f.injected for f in reply.facts] == [False]
    assert reply.injected_tokens == 0


async def test_a_fact_behind_a_missing_segment_does_not_count_as_injected(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_facts("ann", ["I like plums.", "I like pears.", "I like figs."])
        await parts.engine.drop("ann", ["ann|I like pears."])
        reply = await parts.ask("What do I like?")
    assert [(f.text, f.injected) for f in reply.facts] == [
        ("I like plums.", True),
        ("I like pears.", False),
        ("I like figs.", False),
    ]


async def test_history_is_the_exact_text_of_earlier_turns(database_url: str) -> None:
    message = "   lead\n      code <|im_end|>  \n\n"
    async with opened(database_url, reply=lambda prompt: "  yes \n") as parts:
        first = await parts.say(message)
        assert first.conversation_id is not None
        await parts.say("And now?", conversation_id=first.conversation_id)
        messages = await parts.service.messages("ann", first.conversation_id)
    assert messages == [
        Message("user", message),
        Message("assistant", "  yes \n"),
        Message("user", "And now?"),
        Message("assistant", "  yes \n"),
    ]


async def test_a_conversation_is_titled_by_its_first_message(database_url: str) -> None:
    async with opened(database_url) as parts:
        empty = await parts.service.new_conversation("ann")
        await parts.say("Where\ndo  I live? " + "and why " * 20, conversation_id=empty)
        await parts.say("Second message", conversation_id=empty)
        newer = await parts.service.new_conversation("ann")
        found = await parts.service.conversations("ann")
    assert [(c.id, c.title[:15]) for c in found] == [
        (newer, "New conversatio"),
        (empty, "Where do I live"),
    ]
    assert len(found[1].title) <= 60


@pytest.mark.parametrize("message", ["", "   ", "\n\t", "\ud83d", "\x00"])
async def test_an_empty_message_is_refused_and_nothing_is_stored(
    database_url: str, message: str
) -> None:
    async with opened(database_url) as parts:
        with pytest.raises(EmptyMessageError):
            await parts.ask(message)
        assert await parts.service.conversations("ann") == []


async def test_a_message_longer_than_the_context_is_refused_before_it_is_stored(
    database_url: str,
) -> None:
    async with opened(database_url, max_model_len=400) as parts:
        with pytest.raises(MessageTooLongError, match="limit is 144"):
            await parts.ask("x" * 200)
        assert await parts.service.conversations("ann") == []


async def test_lone_surrogates_are_removed_and_emoji_stay(database_url: str) -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e8\U0001f1ed"
    async with opened(database_url) as parts:
        reply = await parts.say(f"My flag \ud800is {family}\udfff\x00")
        assert reply.conversation_id is not None
        messages = await parts.service.messages("ann", reply.conversation_id)
        assert messages[0].content == f"My flag is {family}"
        assert await parts.known() == [f"My flag is {family}."]


async def test_without_remember_and_conversation_nothing_is_stored(database_url: str) -> None:
    async with opened(database_url) as parts:
        reply = await parts.say("I live in Bern.", remember=False)
        assert reply.conversation_id is None
        assert await parts.service.conversations("ann") == []
        assert await parts.known() == []


async def test_without_remember_a_conversation_keeps_its_turns_and_teaches_nothing(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        conversation = await parts.service.new_conversation("ann")
        await parts.say("I live in Bern.", conversation_id=conversation, remember=False)
        assert len(await parts.service.messages("ann", conversation)) == 2
        assert await parts.known() == []
    async with opened(database_url) as parts:
        await parts.service.settle()
        assert await parts.known() == []


async def test_another_users_conversations_and_facts_are_not_found(database_url: str) -> None:
    async with opened(database_url) as parts:
        reply = await parts.say("I live in Bern.")
        assert reply.conversation_id is not None
        (fact,) = await parts.service.facts("ann")
        for wrong in (fact.id, "999", "x", "-1", "9" * 40):
            with pytest.raises(NotFoundError):
                await parts.service.forget_fact("bob", wrong)
        with pytest.raises(NotFoundError):
            await parts.service.history("bob", fact.id)
        with pytest.raises(NotFoundError):
            await parts.service.messages("bob", reply.conversation_id)
        with pytest.raises(NotFoundError):
            await parts.ask("Hi", "bob", conversation_id=reply.conversation_id)
        assert (await parts.ask("Where do I live?", "bob")).facts == ()
        assert await parts.service.history("bob") == []
        assert await parts.known() == ["I live in Bern."]


async def test_a_blank_user_is_refused(database_url: str) -> None:
    async with opened(database_url) as parts:
        with pytest.raises(UserError, match="blank"):
            await parts.ask("Hi", "  ")


async def test_compare_replies_twice_and_keeps_the_kv_reply(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "I like plums.")
        events = [e async for e in parts.service.compare(user="ann", message="What do I like?")]
        replies = {mode: e for mode, e in events if isinstance(e, Reply)}
        assert [mode for mode, e in events if isinstance(e, FirstToken)] == [Mode.TEXT, Mode.KV]
        assert replies[Mode.TEXT].prompt_tokens == replies[Mode.KV].prompt_tokens
        assert replies[Mode.TEXT].injected_tokens == 0 < replies[Mode.KV].injected_tokens
        assert replies[Mode.KV].reply == replies[Mode.TEXT].reply
        (conversation,) = await parts.service.conversations("ann")
        messages = await parts.service.messages("ann", conversation.id)
        assert [m.role for m in messages] == ["user", "assistant"]


async def test_compared_at_once_both_modes_run_together_and_closing_stops_both(
    database_url: str,
) -> None:
    async with opened(database_url, reply=lambda prompt: "a b c d", delay=0.02) as parts:
        asked: dict[str, Any] = {"user": "ann", "message": "Hi", "at_once": True}
        order = [mode async for mode, _ in parts.service.compare(**asked)]
        assert order.index(Mode.KV) < len(order) - order[::-1].index(Mode.TEXT)
        replies = parts.service.compare(**asked)
        await anext(replies)
        await replies.aclose()
        assert parts.engine.aborted == 2


async def test_a_model_without_kv_replies_in_text_only(database_url: str) -> None:
    async with opened(database_url, supported=False) as parts:
        assert not parts.service.kv_available
        assert "refuse" in parts.service.kv_refusal
        with pytest.raises(UnsupportedModelError, match="text mode"):
            await parts.ask("Hi", mode=Mode.KV)
        modes = {mode async for mode, _ in parts.service.compare(user="ann", message="Hi")}
        assert modes == {Mode.TEXT}


async def test_k_of_zero_recalls_nothing(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "I like plums.")
        assert (await parts.ask("Plums?", k=0)).facts == ()


async def test_two_replies_at_once_in_one_conversation_both_keep_their_turns(
    database_url: str,
) -> None:
    async with opened(database_url, delay=0.002) as parts:
        conversation = await parts.service.new_conversation("ann")
        await asyncio.gather(
            *(parts.ask(f"I own boat {n}.", conversation_id=conversation) for n in range(5))
        )
        await parts.service.settle("ann")
        assert len(await parts.service.messages("ann", conversation)) == 10
        assert len(await parts.known()) == 5


async def test_closing_closes_memory_and_engine(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.ask("I live in Bern.")
    assert parts.memory.closed
    assert not parts.engine.running
    async with opened(database_url) as parts:
        assert await parts.known() == ["I live in Bern."]


async def test_what_was_just_said_is_recalled_by_the_next_message(database_url: str) -> None:
    """memobase#48, #157: what waits in a buffer is missed."""
    async with opened(database_url) as parts:
        await parts.ask("My dog is called Biscuit.")
        reply = await parts.ask("What is my dog called?")
        assert [f.text for f in reply.facts] == ["My dog is called Biscuit."]


async def test_secrets_and_endless_facts_are_refused_by_hand_too(database_url: str) -> None:
    async with opened(database_url) as parts:
        for text, reason in (("My password is hunter2", "password"), ("x" * 1001, "1000")):
            with pytest.raises(UserError, match=reason):
                await parts.service.add_facts("ann", ["I ski.", text])
        assert await parts.known() == []


async def test_a_fact_by_hand_supersedes_too_and_stays_as_it_was_written(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        await parts.service.add_fact("ann", "I  live in Rome")
        assert await parts.known() == ["I live in Rome"]
        assert [f.text for f in parts.memory.held["ann"]] == ["I live in Rome"]


async def test_a_message_is_checked_before_something_makes_room_for_it(database_url: str) -> None:
    async with opened(database_url, max_model_len=1200) as parts:
        await parts.service.check("ann", "Who?")
        with pytest.raises(EmptyMessageError):
            await parts.service.check("ann", " ")
        with pytest.raises(MessageTooLongError, match="limit"):
            await parts.service.check("ann", "x" * 1500)
        parts.engine.running = False
        with pytest.raises(EngineStoppedError):
            await parts.service.check("ann", "Who?")
        parts.engine.running = True
        assert await parts.service.conversations("ann") == []
