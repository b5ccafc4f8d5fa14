"""Chat completions, asked with OpenAI's own client."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from openai import APIError, APIStatusError, BadRequestError, NotFoundError

from memory_engine.engines.fake import FakeEngine
from memory_engine.types import Message, Mode, Prompt, Sampling
from tests.agent.fake_memory import text_of
from tests.app.api.api_server import Api, api, served


def said(*turns: str) -> list[Any]:
    """The turns of user and assistant in turn, as a request has them."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]


async def ask(at: Api, *turns: str, **options: Any) -> Any:
    """A reply in one piece, when what was said is remembered."""
    async with at.openai() as client:
        options = {"model": "inferscale-kv", "user": "ann"} | options
        messages = options.pop("messages", said(*turns))
        reply = await client.chat.completions.create(messages=messages, **options)
    await at.parts.service.settle("ann")
    return reply


async def test_the_models_are_the_modes(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.openai() as client:
        assert [m.id async for m in await client.models.list()] == [
            "inferscale-kv",
            "inferscale-text",
        ]


async def test_a_reply_in_one_piece_has_usage_and_an_account(tmp_path: Path) -> None:
    async with api(tmp_path) as at:
        fact = await at.parts.service.add_fact("ann", "I like plums.")
        reply = await ask(at, "What do I like?")
    assert reply.choices[0].message.content == "All right then."
    assert reply.choices[0].finish_reason == "stop"
    account = reply.model_extra["inferscale"]
    assert account["mode"] == "kv"
    (used,) = account["facts"]
    assert (used["id"], used["text"], used["injected"]) == (fact.id, "I like plums.", True)
    tokens = account["tokens"]
    assert tokens["prompt"] == tokens["injected"] + tokens["cached"] + tokens["prefilled"]
    assert reply.usage.prompt_tokens == tokens["prompt"]
    assert reply.usage.prompt_tokens_details.cached_tokens == tokens["injected"] > 0
    assert reply.usage.total_tokens == tokens["prompt"] + 3


async def test_a_stream_is_the_reply_word_by_word_and_ends_with_the_usage(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.openai() as client:
        stream = await client.chat.completions.create(
            model="inferscale-text",
            messages=said("Hi"),
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks: list[Any] = [chunk async for chunk in stream]
    assert chunks[0].choices[0].delta.role == "assistant"
    words = [c.choices[0].delta.content for c in chunks[1:-2]]
    assert words == ["All", " right", " then."]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert (chunks[-1].choices, chunks[-1].usage.completion_tokens) == ([], 3)
    assert chunks[-1].model_extra["inferscale"]["mode"] == "text"
    assert len({c.id for c in chunks}) == 1


async def test_without_usage_the_account_comes_with_the_end(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.openai() as client:
        stream = await client.chat.completions.create(
            model="inferscale-text", messages=said("Hi"), stream=True
        )
        chunks: list[Any] = [chunk async for chunk in stream]
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is None
    assert chunks[-1].model_extra["inferscale"]["tokens"]["output"] == 3


async def test_a_stream_is_sent_as_server_sent_events_and_says_when_it_is_done(
    tmp_path: Path,
) -> None:
    body = {"model": "inferscale-kv", "messages": said("Hi"), "stream": True}
    async with api(tmp_path) as at, at.http() as client:
        reply = await client.post("/v1/chat/completions", json=body)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["x-accel-buffering"] == "no"
    lines = reply.text.split("\n\n")
    assert all(line.startswith("data: {") for line in lines[:-2])
    assert lines[-2:] == ["data: [DONE]", ""]


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


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"n": 2}, "n"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"logprobs": True}, "logprobs"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"temperature": 3}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop": [""]}, "stop"),
        ({"extra_body": {"inferscale": {"mood": "kv"}}}, "inferscale.mood"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "assistant", "content": "Hi"}]}, "messages"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}]}, "messages.0"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
                ]
            },
            "messages.0",
        ),
    ],
)
async def test_what_is_not_supported_is_a_400_that_names_the_field(
    tmp_path: Path, options: dict[str, Any], param: str
) -> None:
    async with api(tmp_path) as at:
        with pytest.raises(BadRequestError) as caught:
            await ask(at, "Hi", **options)
        assert await at.parts.service.conversations("ann") == []
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"


async def test_errors_have_openais_shape_and_status(tmp_path: Path) -> None:
    async with api(tmp_path, max_model_len=400) as at:
        with pytest.raises(NotFoundError) as unknown:
            await ask(at, "Hi", model="gpt-4")
        with pytest.raises(BadRequestError) as long:
            await ask(at, "x" * 300, stream=True)
        with pytest.raises(BadRequestError, match="empty"):
            await ask(at, " ")
        at.parts.engine.running = False
        with pytest.raises(APIStatusError) as stopped:
            await ask(at, "Hi", stream=True)
        at.parts.engine.running = True
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    assert long.value.code == "context_length_exceeded"
    assert (stopped.value.status_code, stopped.value.code) == (503, "engine_stopped")


async def test_without_kv_there_is_only_the_text_model(tmp_path: Path) -> None:
    async with api(tmp_path, supported=False) as at, at.openai() as client:
        assert [m.id async for m in await client.models.list()] == ["inferscale-text"]
        with pytest.raises(BadRequestError) as caught:
            await ask(at, "Hi")
    assert caught.value.code == "kv_not_available"


async def test_what_was_not_expected_is_a_500_that_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with api(tmp_path) as at:

        def fail(*_: object, **__: object) -> None:
            raise KeyError("I like plums")

        monkeypatch.setattr(at.parts.memory, "plan", fail)
        with pytest.raises(APIStatusError) as caught:
            await ask(at, "Hi")
    assert caught.value.status_code == 500
    assert "plums" not in str(caught.value.body)


async def test_an_engine_that_dies_in_a_stream_ends_it_with_an_error(tmp_path: Path) -> None:
    async def until_it_dies(stream: Any, engine: FakeEngine) -> None:
        async for _ in stream:
            engine.running = False

    async with served(tmp_path, delay=0.02) as at, at.openai() as client:
        stream = await client.chat.completions.create(
            model="inferscale-kv", messages=said("Hi"), stream=True
        )
        with pytest.raises(APIError, match="not running"):
            await until_it_dies(stream, at.parts.engine)
        at.parts.engine.running = True


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
