"""The gate: sizes, names of the host, request ids, and which requests are the page's."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.app.api.api_server import api

CHAT = "/v1/chat/completions"


async def test_the_page_gets_what_is_not_the_apis(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.http() as client:
        for path in ("/", "/gradio_api/queue/join", "/v1", "/v2/models", "/docs/x"):
            assert (await client.get(path)).text == "the page"
        assert (await client.get("/v1/nothing")).json()["error"]["message"] == "Not Found"


async def test_a_request_that_is_too_large_is_a_413_said_or_counted(tmp_path: Path) -> None:
    async def in_parts() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b" " * 1000

    async with api(tmp_path, {"max_request_kib": 2}) as at, at.http() as client:
        json = {"Content-Type": "application/json"}
        for content in (b" " * 3000, in_parts()):
            reply = await client.post(CHAT, content=content, headers=json)
            assert reply.status_code == 413
            assert "2 KiB" in reply.json()["error"]["message"]
        assert (await client.post(CHAT, content=b" " * 2048, headers=json)).status_code == 400


async def test_without_sign_in_only_the_servers_own_names_are_answered(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.http() as client:
        for host in ("localhost", "localhost:7860", "127.0.0.1:1", "[::1]:7860"):
            assert (await client.get("/v1/models", headers={"Host": host})).status_code == 200
        for host in ("evil.example", "evil.example:7860", "127.0.0.1.evil.example"):
            reply = await client.get("/v1/models", headers={"Host": host})
            assert (reply.status_code, reply.json()["error"]["type"]) == (403, "permission_error")


async def test_a_request_id_comes_back_and_a_strange_one_does_not(tmp_path: Path) -> None:
    async with api(tmp_path) as at, at.http() as client:
        given = await client.get("/healthz", headers={"X-Request-Id": "abc-1"})
        strange = await client.get("/healthz", headers={"X-Request-Id": "a b"})
    assert given.headers["x-request-id"] == "abc-1"
    assert len(strange.headers["x-request-id"]) == 32


async def test_requests_are_logged_with_their_id_and_nothing_that_was_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    message = {"role": "user", "content": "I live in Zanzibar."}
    body = {"model": "inferscale-kv", "messages": [message], "user": "anneliese"}
    async with api(tmp_path) as at, at.http() as client:
        await client.post(CHAT, json=body, headers={"X-Request-Id": "r1"})
        await at.parts.service.settle()
        params = {"q": "Zanzibar", "user": "anneliese"}
        assert "Zanzibar" in (await client.get("/v1/memories/search", params=params)).text
    ours = [record for record in caplog.records if record.name.startswith(("app", "agent"))]
    lines = [record.getMessage() for record in ours]
    assert any(line.startswith(f"POST {CHAT}: 200") and "r1" in line for line in lines)
    assert not [line for line in lines if "Zanzibar" in line or "anneliese" in line]
