"""While the model loads: everybody is told so, and no connection is lost when it is there."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import closing

import httpx2
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from app.serving.listener import bind
from app.serving.startup_page import StartupPage


@pytest.fixture
async def listener() -> AsyncIterator[socket.socket]:
    with bind("127.0.0.1", 0) as listener:
        yield listener


def client_of(listener: socket.socket) -> httpx2.AsyncClient:
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    transport = httpx2.AsyncHTTPTransport(verify=False)
    return httpx2.AsyncClient(base_url=url, transport=transport, timeout=20)


async def test_a_browser_sees_a_page_that_reloads_itself(listener: socket.socket) -> None:
    with closing(StartupPage(listener)):
        async with client_of(listener) as client:
            reply = await client.get("/?x=1")
            head = await client.head("/")
    assert reply.status_code == head.status_code == 503
    assert "InferScale is starting" in reply.text
    assert "<script" not in reply.text
    assert reply.headers["refresh"] == reply.headers["retry-after"] == "2"
    assert reply.headers["cache-control"] == "no-store"
    assert head.headers["content-length"] == str(len(reply.content))


async def test_a_program_gets_an_error_that_says_when_to_come_back(listener: socket.socket) -> None:
    with closing(StartupPage(listener)):
        async with client_of(listener) as client:
            reply = await client.post("/v1/chat/completions", content=b"x" * (1 << 20))
            alive, ready = await client.get("/healthz"), await client.get("/readyz")
    assert reply.status_code == 503
    assert reply.headers["retry-after"] == "2"
    assert reply.json()["error"]["type"] == "server_error"
    assert "starting" in reply.json()["error"]["message"]
    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()["status"]) == (503, "not ready")


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"\r\n\r\n", b"\xff\x00" * 99, b"x" * 200_000])
async def test_what_is_no_request_breaks_nothing(listener: socket.socket, sent: bytes) -> None:
    with closing(StartupPage(listener)):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(sent)
        writer.write_eof()
        try:
            assert (await reader.read())[:12] in (b"", b"HTTP/1.1 503")
        except ConnectionResetError:
            assert len(sent) > 1 << 16
        writer.close()
        async with client_of(listener) as client:
            assert (await client.get("/")).status_code == 503


async def test_every_connection_is_answered_while_the_server_takes_over(
    listener: socket.socket,
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    statuses: list[int] = []
    refused = asyncio.Event()

    async def ask_until_served() -> None:
        async with client_of(listener) as client:
            while 200 not in statuses[-1:]:
                if len(statuses) >= 20:
                    refused.set()
                statuses.append(
                    (await client.get("/", headers={"Connection": "close"})).status_code
                )

    with closing(StartupPage(listener)) as meanwhile:
        asking = [asyncio.create_task(ask_until_served()) for _ in range(8)]
        await asyncio.wait_for(refused.wait(), 20)
        meanwhile.close()
        await asyncio.sleep(0.2)  # nobody accepts, and they wait
        config = uvicorn.Config(app, lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        await asyncio.gather(*asking)
        server.should_exit = True
        await serving
    assert set(statuses) == {200, 503}
    assert statuses[-1] == 200
