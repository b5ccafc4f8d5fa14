"""A program's message finds its conversation: by name, by its history, once."""

import asyncio

from agent.request import Client
from memory_engine.types import Message
from tests.agent.agent_builder import Parts, opened


def said(*turns: str) -> tuple[Message, ...]:
    return tuple(Message("assistant" if n % 2 else "user", turn) for n, turn in enumerate(turns))


async def users(parts: Parts, conversation: str | None) -> list[str]:
    """The user's turns of a conversation, as they are stored."""
    assert conversation is not None
    messages = await parts.service.messages("ann", conversation)
    return [message.content for message in messages if message.role == "user"]


async def test_a_history_goes_on_in_its_conversation_and_a_branch_too(database_url: str) -> None:
    async with opened(database_url) as parts:
        first = await parts.say("One", client=Client())
        second = await parts.say("Two", client=Client(said("One", "Yes")))
        branch = await parts.say("Three", client=Client(said("One", "Yes")))
        other = await parts.say("Two", client=Client(said("Another", "Yes")))
        assert first.conversation_id == second.conversation_id
        assert await users(parts, first.conversation_id) == ["One", "Two", "Three"]
        assert branch.conversation_id != other.conversation_id


async def test_the_same_message_at_the_same_time_is_stored_once(database_url: str) -> None:
    async with opened(database_url) as parts:
        for client in (Client(), Client(conversation="chat")):
            replies = await asyncio.gather(
                *(parts.ask("I ski.", client=client) for _ in range(4)),
            )
            found = {r.conversation_id for r in replies} - {None}
            assert len(found) == 1
            assert await users(parts, found.pop()) == ["I ski."]
        assert len(await parts.service.conversations("ann")) == 2


async def test_a_name_is_one_users_own(database_url: str) -> None:
    async with opened(database_url) as parts:
        ann = await parts.say("One", client=Client(conversation="chat"))
        bob = await parts.say("One", "bob", client=Client(conversation="chat"))
        again = await parts.say("Two", client=Client(conversation="chat"))
        assert ann.conversation_id == again.conversation_id != bob.conversation_id


async def test_a_conversation_without_memory_has_none_for_programs_either(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        client = Client(conversation="chat")
        first = await parts.say("Hello", client=client)
        assert first.conversation_id is not None
        await parts.service.set_memory("ann", first.conversation_id, memory=False)
        await parts.say("I ski.", client=client)
        assert await parts.known() == []


async def test_who_is_deleted_leaves_no_name_and_no_key(database_url: str) -> None:
    async with opened(database_url) as parts:
        for _ in range(2):
            await parts.say("I ski.", client=Client(conversation="chat"))
            assert await parts.known() == ["I ski."]
            await parts.service.forget_everything("ann")
            assert await parts.known() == []
