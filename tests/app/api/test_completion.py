"""A reply as a chat completion: in one piece, or as server-sent events."""

from pathlib import Path
from typing import Any

from tests.app.api.api_server import api
from tests.app.api.chat_client import ask, said


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
