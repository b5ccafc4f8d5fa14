"""Chat completions, asked with OpenAI's own client."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memory_engine.types import Message, Mode, Prompt, Sampling
from tests.agent.fake_memory import text_of
from tests.app.api.api_server import api, served
from tests.app.api.chat_client import ask, said


async def test_the_models_are_the_modes(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.openai() as client:
        assert [m.id async for m in await client.models.list()] == [
            "inferscale-kv",
            "inferscale-text",
        ]


async def test_what_is_said_is_remembered_for_the_next_conversation(tmp_path: Path) -> None:
    async with api(tmp_path, reply=text_of) as at:
        await ask(at, "My dog is called Biscuit")
        reply = await ask(at, "What is my dog called?")
    assert "My dog is called Biscuit." in reply.choices[0].message.content


async def test_the_programs_messages_are_the_history(tmp_path: Path) -> None:
    async with api(tmp_path, reply=text_of) as at:
        reply = await ask(at, "One", "Two", "Three")
    prompt = reply.choices[0].message.content
    assert prompt.endswith("\nuser: One\nassistant: Two\nuser: Three\nassistant: ")


async def test_of_a_history_only_the_new_message_is_remembered(tmp_path: Path) -> None:
    async with api(tmp_path) as at:
        await ask(at, "I live in Bern.", "Nice.", "I like plums.")
        assert await at.parts.known() == ["I like plums."]


async def test_the_same_message_of_the_same_history_is_stored_once(tmp_path: Path) -> None:
    async with api(tmp_path) as at:
        for _ in range(2):
            await ask(at, "I like plums.")
        await asyncio.gather(*(ask(at, "I like plums.", "Good.", "I like figs.") for _ in range(3)))
        service = at.parts.service
        (conversation,) = await service.conversations("ann")
        messages = await service.messages("ann", conversation.id)
        assert [m.content for m in messages if m.role == "user"] == [
            "I like plums.",
            "I like figs.",
        ]
        assert len(await service.history("ann")) == 2


async def test_what_was_forgotten_does_not_come_back_with_a_message_sent_again(
    tmp_path: Path,
) -> None:
    async with api(tmp_path) as at:
        await ask(at, "I like plums.")
        (fact,) = await at.parts.service.facts("ann")
        await at.parts.service.forget_fact("ann", fact.id)
        await ask(at, "I like plums.")
        assert await at.parts.known() == []


async def test_a_named_conversation_goes_on_as_it_is_stored(tmp_path: Path) -> None:
    name = {"extra_headers": {"X-Conversation-Id": "chat 1"}}
    async with api(tmp_path, reply=text_of) as at:
        await ask(at, "One", **name)
        reply = await ask(at, "Two", **name)
        again = await ask(at, "Two", **name)
        other = await ask(at, "Two", user="bob", **name)
        (conversation,) = await at.parts.service.conversations("ann")
    assert "user: One" in reply.choices[0].message.content
    assert "user: Two" in again.choices[0].message.content.rpartition("\nuser: ")[0]
    assert "user: One" not in other.choices[0].message.content
    assert again.model_extra["inferscale"]["conversation_id"] == conversation.id


async def test_open_webuis_headers_name_the_chat_and_the_user(tmp_path: Path) -> None:
    headers = {"X-OpenWebUI-Chat-Id": "c", "X-OpenWebUI-User-Id": "ann"}
    async with api(tmp_path) as at:
        for turn in ("I ski.", "I like figs."):
            await ask(at, turn, user=None, extra_headers=headers)
        await ask(at, "I swim.", user="bob", extra_headers=headers)
        (conversation,) = await at.parts.service.conversations("ann")
        assert len(await at.parts.service.messages("ann", conversation.id)) == 4
        assert await at.parts.known() == ["I ski.", "I like figs."]


async def test_another_reply_to_the_first_message_of_a_named_conversation(tmp_path: Path) -> None:
    name = {"extra_headers": {"X-Conversation-Id": "chat 1"}}
    async with api(tmp_path) as at:
        for _ in range(2):
            await ask(at, "One", **name)
        (conversation,) = await at.parts.service.conversations("ann")
        assert await at.parts.service.messages("ann", conversation.id) == [
            Message("user", "One"),
            Message("assistant", "All right then."),
        ]


@pytest.mark.parametrize("headers", [{}, {"X-Conversation-Id": "chat 1"}])
async def test_a_programs_own_task_is_answered_without_memory_and_leaves_nothing(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    task = (
        "### Task:\nGenerate a concise title for the chat.\n"
        "<chat_history>\nI like plums.\n</chat_history>"
    )
    async with api(tmp_path) as at:
        await at.parts.service.add_fact("ann", "I like plums.")
        reply = await ask(at, task, extra_headers=headers)
        named = await ask(at, "I ski.", extra_headers=headers | {"X-InferScale-Task": "title"})
        assert reply.model_extra["inferscale"]["facts"] == []
        assert named.model_extra["inferscale"]["facts"] == []
        assert await at.parts.service.conversations("ann") == []
        assert await at.parts.known() == ["I like plums."]


async def test_system_messages_reach_the_model_and_teach_nothing(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "I live in Rome."},
        {"role": "developer", "content": [{"type": "text", "text": "Be short."}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "I like "}, {"type": "text", "text": "figs."}],
        },
    ]
    async with api(tmp_path, reply=text_of) as at:
        reply = await ask(at, messages=messages)
        assert "system: I live in Rome.\nBe short.\nuser: I like figs." in (
            reply.choices[0].message.content
        )
        assert await at.parts.known() == ["I like figs."]


async def test_the_extension_chooses_the_mode_the_facts_and_whether_to_remember(
    tmp_path: Path,
) -> None:
    extension = {"mode": "text", "k": 1, "remember": False}
    async with api(tmp_path) as at:
        await at.parts.service.add_facts("ann", ["I like plums.", "I like figs."])
        reply = await ask(at, "I like ice.", extra_body={"inferscale": extension})
        account = reply.model_extra["inferscale"]
        assert (account["mode"], len(account["facts"])) == ("text", 1)
        assert await at.parts.known() == ["I like plums.", "I like figs."]


async def test_sampling_is_what_the_request_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with api(tmp_path) as at:
        seen: list[Any] = []
        generate = at.parts.engine.generate

        def noted(prompt: Prompt, mode: Mode, sampling: Sampling) -> Any:
            seen.append(sampling)
            return generate(prompt, mode, sampling)

        monkeypatch.setattr(at.parts.engine, "generate", noted)
        await ask(at, "Hi", max_tokens=2, temperature=0.5, top_p=0.9, stop=["x", "y"], seed=7)
        await ask(at, "Ho", stop="z", max_completion_tokens=1)
        await ask(at, "Ha")
    first, second, third = seen
    assert (first.max_tokens, first.temperature, first.top_p) == (2, 0.5, 0.9)
    assert (first.stop, first.seed) == (("x", "y"), 7)
    assert (second.stop, second.max_tokens) == (("z",), 1)
    assert (third.max_tokens, third.temperature, third.top_p, third.seed) == (256, 0, 1, None)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_program_that_goes_away_aborts_the_engine_and_keeps_what_was_shown(
    tmp_path: Path, stream: bool
) -> None:
    asked = asyncio.Event()

    def long_reply(_: Prompt) -> str:
        asked.set()
        return "word " * 1000

    options = {"stream": stream, "max_tokens": 1000, "user": "ann"}
    body = {"model": "inferscale-kv", "messages": said("I ski.")} | options
    async with served(tmp_path, reply=long_reply, delay=0.01) as at:
        async with at.http() as client:
            asking = asyncio.create_task(client.post("/v1/chat/completions", json=body))
            await asked.wait()
            await asyncio.sleep(0.1)
            asking.cancel()
            await asyncio.wait([asking])
        await at.context.replies.ended()
        assert at.parts.engine.aborted == 1
        await at.parts.service.settle("ann")
        assert await at.parts.known() == ["I ski."]
        (conversation,) = await at.parts.service.conversations("ann")
        _, shown = await at.parts.service.messages("ann", conversation.id)
    assert shown.content.startswith("word")
