"""Conversations: found, renamed, and replied to again."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import pytest

from agent.reply_events import Reply, TextDelta
from memory_engine.errors import EngineStoppedError, NotFoundError, UserError
from memory_engine.types import Mode, Prompt
from tests.agent.agent_builder import Parts, opened
from tests.agent.fake_memory import text_of


async def told(parts: Parts, conversation_id: str) -> list[str]:
    return [m.content for m in await parts.service.messages("ann", conversation_id)]


async def test_a_reply_takes_the_place_of_the_one_before(database_url: str) -> None:
    said: list[str] = []

    def reply(prompt: Prompt) -> str:
        said.append(text_of(prompt))
        return f"Reply {len(said)}."

    async with opened(database_url, reply=reply) as parts:
        talk = (await parts.say("I ski.")).conversation_id or ""
        await parts.say("Who am I?", conversation_id=talk)
        again = await parts.say("Who am I?", conversation_id=talk, again=True)
        assert again.reply == "Reply 3."
        assert await told(parts, talk) == ["I ski.", "Reply 1.", "Who am I?", "Reply 3."]
        assert said[2].count("Who am I?") == 1
        assert "Reply 2." not in said[2]
        assert await parts.known() == ["I ski."]


async def test_a_reply_that_fails_before_its_first_word_leaves_the_one_before(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("Hello.")).conversation_id or ""
        parts.engine.running = False
        with pytest.raises(EngineStoppedError):
            await parts.ask("Hello.", conversation_id=talk, again=True)
        assert await told(parts, talk) == ["Hello.", "All right then."]
        parts.engine.running = True


async def test_a_stopped_second_reply_is_kept_as_far_as_it_was_shown(database_url: str) -> None:
    async with opened(database_url, delay=0.01) as parts:
        talk = (await parts.say("Hello.")).conversation_id or ""
        events = parts.service.reply(
            user="ann", message="Hello.", mode=Mode.KV, conversation_id=talk, again=True
        )
        async with aclosing(cast(AsyncGenerator[object, None], events)) as stream:
            async for event in stream:
                assert not isinstance(event, Reply)
                if isinstance(event, TextDelta):
                    break
        assert await told(parts, talk) == ["Hello.", "All"]


async def test_only_the_last_message_can_be_replied_to_again(database_url: str) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("Hello.")).conversation_id or ""
        assert await parts.service.last_message("ann", talk) == "Hello."
        with pytest.raises(UserError, match="went on meanwhile"):
            await parts.ask("Goodbye.", conversation_id=talk, again=True)
        empty = await parts.service.new_conversation("ann")
        with pytest.raises(NotFoundError, match="Nothing was said"):
            await parts.service.last_message("ann", empty)


async def test_a_comparison_can_be_made_again(database_url: str) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("Hello.")).conversation_id or ""
        compared = parts.service.compare(
            user="ann", message="Hello.", conversation_id=talk, again=True
        )
        replies = [event async for _, event in compared if isinstance(event, Reply)]
        assert [reply.mode for reply in replies] == [Mode.TEXT, Mode.KV]
        assert await told(parts, talk) == ["Hello.", "All right then."]


async def test_conversations_are_found_by_what_was_said_in_them(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("My boat is called 50%_off.")
        await parts.say("I ski.")

        async def found(search: str) -> list[str]:
            return [c.title for c in await parts.service.conversations("ann", search)]

        assert await found("BOAT") == ["My boat is called 50%_off."]
        assert await found("50%_") == ["My boat is called 50%_off."]
        assert await found("%") == ["My boat is called 50%_off."]
        assert await found("right then") == ["I ski.", "My boat is called 50%_off."]
        assert await found("plums") == []
        assert await parts.service.conversations("bob", "boat") == []


async def test_a_renamed_conversation_keeps_its_new_title(database_url: str) -> None:
    async with opened(database_url) as parts:
        talk = (await parts.say("Hello.")).conversation_id or ""
        await parts.service.rename_conversation("ann", talk, "  First\ntalk ")
        await parts.say("Goodbye.", conversation_id=talk)
        assert [c.title for c in await parts.service.conversations("ann")] == ["First talk"]
        with pytest.raises(UserError, match="needs a title"):
            await parts.service.rename_conversation("ann", talk, " ")
        with pytest.raises(NotFoundError):
            await parts.service.rename_conversation("bob", talk, "Mine")
