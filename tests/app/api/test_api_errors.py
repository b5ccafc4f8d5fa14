"""Errors of the API: OpenAI's shape, and nothing that a stranger may not read."""

from pathlib import Path
from typing import Any

import pytest
from openai import APIError, APIStatusError, BadRequestError, NotFoundError

from memory_engine.engines.fake import FakeEngine
from tests.app.api.api_server import api, served
from tests.app.api.chat_client import ask, said


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
