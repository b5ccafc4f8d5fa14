"""MCP over HTTP, with the protocol's own client: two tools, and nobody gets another's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from memory_engine.types import Prompt
from tests.agent.fake_memory import text_of
from tests.app.api.api_server import Api, api, served

KEYS = {"auth": "keys"}


@asynccontextmanager
async def mcp(at: Api, key: str | None = None) -> AsyncIterator[Client]:
    """An MCP client that has `key`."""
    async with at.http(key) as http:
        url = f"http://127.0.0.1:{at.port}/mcp"
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport) as client:
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> types.CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, types.CallToolResult)
    return result


def said(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


async def test_there_are_two_tools_and_they_say_what_they_do(tmp_path: Path) -> None:
    async with served(tmp_path) as at, mcp(at) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {"chat", "search_memory"}
        for tool in tools:
            assert len(tool.description or "") > 50
            fields = tool.input_schema["properties"]
            assert "user" not in fields
            assert all(field["description"] for field in fields.values())
        search = next(tool for tool in tools if tool.name == "search_memory")
        assert search.annotations is not None
        assert search.annotations.read_only_hint
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []


async def test_what_is_told_is_remembered_and_found(tmp_path: Path) -> None:
    async with served(tmp_path, {"user": "me"}, reply=text_of) as at, mcp(at) as client:
        await call(client, "chat", message="I live in Bern.")
        await at.parts.service.settle()
        found = await call(client, "search_memory", query="Where do I live?", most=1)
        assert found.structured_content is not None
        (fact,) = found.structured_content["result"]
        assert (fact["text"], set(fact)) == ("I live in Bern.", {"text", "when", "score"})
        assert "I live in Bern." in said(await call(client, "chat", message="Where do I live?"))


async def test_messages_of_one_conversation_follow_on_each_other(tmp_path: Path) -> None:
    async with served(tmp_path, reply=text_of) as at, mcp(at) as client:
        for message in ("Let us talk of boats.", "Go on."):
            reply = said(await call(client, "chat", message=message, conversation="boats"))
        assert "Let us talk of boats." in reply
        assert "boats" not in said(await call(client, "chat", message="Go on."))


async def test_one_key_never_gets_what_another_told(tmp_path: Path) -> None:
    async with served(tmp_path, KEYS, reply=text_of) as at:
        ann, bob = await at.keys.add("ann"), await at.keys.add("bob")
        async with mcp(at, ann) as anns, mcp(at, bob) as bobs:
            await call(anns, "chat", message="I live in Zanzibar.", conversation="home")
            await at.parts.service.settle()
            for tool, arguments in (
                ("chat", {"message": "Where do I live?", "conversation": "home"}),
                ("chat", {"message": "Where do I live?", "user": "ann"}),
                ("search_memory", {"query": "Where do I live?"}),
            ):
                assert "Zanzibar" not in repr(await call(bobs, tool, **arguments))
                assert "Zanzibar" in repr(await call(anns, tool, **arguments))


@pytest.mark.parametrize("auth", ["keys", "accounts"])
async def test_nobody_gets_in_without_a_key(tmp_path: Path, auth: str) -> None:
    async with api(tmp_path, {"auth": auth}) as at:
        hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for key in (None, "wrong", "isk-wrong"):
            async with at.http(key) as client:
                for method in ("GET", "POST", "DELETE"):
                    reply = await client.request(method, "/mcp", json=hello)
                    assert reply.status_code == 401
                    assert reply.json()["error"]["code"] == "invalid_api_key"


async def test_what_cannot_be_is_told_and_what_breaks_is_not(tmp_path: Path) -> None:
    def broken(prompt: Prompt) -> str:
        raise ValueError("address 0x7f of the slab")

    async with served(tmp_path, reply=broken) as at, mcp(at) as client:
        blank = await call(client, "chat", message=" ")
        assert blank.is_error
        assert "The message is empty" in said(blank)
        much = await call(client, "search_memory", query="x", most=1000)
        assert much.is_error
        failed = await call(client, "chat", message="Hello")
        assert failed.is_error
        assert "slab" not in said(failed)


async def test_rates_count_for_tools_too(tmp_path: Path) -> None:
    async with api(tmp_path, {"rate_limit": "1/minute"}) as at, at.http() as client:
        await client.get("/v1/models")
        reply = await client.post("/mcp", json={})
        assert reply.status_code == 429
        assert int(reply.headers["retry-after"]) > 0


@pytest.mark.parametrize("header", ["Host", "Origin"])
async def test_another_site_does_not_reach_the_tools(tmp_path: Path, header: str) -> None:
    async with api(tmp_path) as at, at.http() as client:
        reply = await client.post("/mcp", json={}, headers={header: "http://evil.example"})
        assert reply.status_code == 403
