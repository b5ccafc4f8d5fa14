"""Serving: the port first, the URL when it answers, a clean end at Ctrl-C."""

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from app.auth.accounts import Accounts
from app.auth.passwords import Passwords
from app.service import ChatService
from app.serving.assembly import create_app as assemble
from app.serving.listener import bind
from app.serving.server import _note_where_nobody_can_sign_in, serve
from app.serving.uvicorn_server import _without_query
from app.settings import Settings
from memory_engine.errors import PortTakenError, SettingsError
from tests.agent.agent_builder import opened, url_of
from tests.app.api.api_server import CHEAP
from ui import create_app

# `app.serving.server` with a page of its own and a service that only knows how to close.
PROGRAM = textwrap.dedent(
    """
    import asyncio, contextlib, gc, sys
    from fastapi import FastAPI
    from app.serving import server
    from inferscale.output import note, say, stdout_for_results
    from app.settings import Settings

    page = FastAPI()
    @page.get("/")
    async def hello() -> str:
        print("written by a library")
        return "hello"
    @page.get("/frozen")
    async def frozen() -> dict[str, int]:
        return {"frozen": gc.get_freeze_count(), "not": len(gc.get_objects())}
    def page_of(service, **_):
        return page

    @contextlib.asynccontextmanager
    async def service(settings, engine, progress):
        progress("loading")
        await asyncio.sleep(float(sys.argv[1]))
        try:
            yield object()
        finally:
            await asyncio.sleep(0.1)
            note("closed")
    server.running_service = service
    with stdout_for_results():
        asyncio.run(server.serve(Settings(port=0), page_of, announce=say, progress=note))
    """
)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def started(load_seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(load_seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_taken_port_is_named_with_what_to_do(taken_port: int) -> None:
    with pytest.raises(PortTakenError) as caught:
        bind("127.0.0.1", taken_port)
    assert str(taken_port) in str(caught.value)
    assert "--port" in str(caught.value)


async def test_a_taken_port_is_found_before_anything_is_loaded(
    taken_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.serving.server.running_service", None)
    with pytest.raises(PortTakenError):
        await serve(Settings(port=taken_port), create_app, announce=print, progress=print)


def test_a_port_is_ours_while_the_model_loads() -> None:
    with bind("127.0.0.1", 0) as first, pytest.raises(PortTakenError):
        bind("127.0.0.1", first.getsockname()[1])


def test_a_host_that_is_not_ours_is_named() -> None:
    with pytest.raises(SettingsError, match=r"INFERSCALE_HOST=203\.0\.113\.7"):
        bind("203.0.113.7", 0)
    with pytest.raises(SettingsError, match="INFERSCALE_HOST=no such host"):
        bind("no such host", 0)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_at_the_url_it_prints_and_drains_at_a_signal(how: signal.Signals) -> None:
    with started(0) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert urllib.request.urlopen(url, timeout=10).read() == b'"hello"'
        process.send_signal(how)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert out == ""
    assert "written by a library" in err
    assert "closed" in err


def test_what_was_loaded_for_good_holds_nobody_up() -> None:
    """All objects looked through is half a second with the page and its libraries loaded."""
    with started(0) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        found = json.load(urllib.request.urlopen(f"{url}/frozen", timeout=10))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert found["frozen"] > 10 * found["not"]


async def test_the_page_and_the_api_are_one_application(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        context, app = assemble(parts.service, Settings(), create_app)
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            assert "InferScale" in (await client.get("/")).text
            models = (await client.get("/v1/models")).json()["data"]
        await context.replies.drain(0)
    assert [model["id"] for model in models] == ["inferscale-kv", "inferscale-text"]


async def test_a_server_without_an_account_says_how_to_make_one(tmp_path: Path) -> None:
    told: list[str] = []
    async with opened(url_of(tmp_path)) as parts:
        for auth in ("off", "keys", "accounts"):
            await _note_where_nobody_can_sign_in(parts.service, Settings(auth=auth), told.append)
        await Accounts(parts.database, Passwords(CHEAP)).add("ann", "correct horse battery")
        await _note_where_nobody_can_sign_in(parts.service, Settings(auth="accounts"), told.append)
    (note,) = told
    assert "inferscale accounts add NAME" in note


async def test_sigterm_lets_a_stream_finish_and_remembers_what_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def service(*_: object, **__: object) -> AsyncIterator[ChatService]:
        words = " ".join(["word"] * 30)
        async with opened(url_of(tmp_path), reply=lambda _: words, delay=0.02) as parts:
            yield parts.service

    monkeypatch.setattr("app.serving.server.running_service", service)
    urls: asyncio.Queue[str] = asyncio.Queue()
    settings = Settings(port=0)
    serving = asyncio.create_task(
        serve(settings, create_app, announce=urls.put_nowait, progress=lambda text: None)
    )
    url = await urls.get()
    message = {"role": "user", "content": "I ski."}
    body = {"model": "inferscale-kv", "messages": [message], "user": "ann", "stream": True}
    transport = httpx2.AsyncHTTPTransport(verify=False)
    async with httpx2.AsyncClient(transport=transport, base_url=url, timeout=30) as client:
        async with client.stream("POST", "/v1/chat/completions", json=body) as reply:
            lines: list[str] = []
            async for line in reply.aiter_lines():
                if not lines:
                    os.kill(os.getpid(), signal.SIGTERM)
                lines.append(line)
        with pytest.raises(httpx2.ConnectError):
            await client.get("/healthz")
    await serving
    assert [line for line in lines if line][-1] == "data: [DONE]"
    assert "".join(lines).count("word") == 30
    async with opened(url_of(tmp_path)) as parts:
        assert await parts.known() == ["I ski."]


def test_the_access_log_has_no_query() -> None:
    record = logging.LogRecord("uvicorn.access", 20, "", 0, '%s - "%s %s"', (), None)
    record.args = ("1.2.3.4:5", "GET", "/v1/memories/search?q=plums&user=ann")
    assert _without_query(record)
    assert record.getMessage() == '1.2.3.4:5 - "GET /v1/memories/search"'


async def test_while_the_model_loads_everybody_is_told_and_then_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = asyncio.Event()

    @asynccontextmanager
    async def service(*_: object, **__: object) -> AsyncIterator[ChatService]:
        await loaded.wait()
        async with opened(url_of(tmp_path)) as parts:
            yield parts.service

    monkeypatch.setattr("app.serving.server.running_service", service)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    urls: asyncio.Queue[str] = asyncio.Queue()
    serving = asyncio.create_task(
        serve(Settings(port=port), create_app, announce=urls.put_nowait, progress=lambda text: None)
    )
    transport = httpx2.AsyncHTTPTransport(verify=False, retries=3)
    url = f"http://127.0.0.1:{port}"
    async with httpx2.AsyncClient(transport=transport, base_url=url, timeout=30) as client:
        early = await client.get("/readyz")
        loaded.set()
        assert await urls.get() == url
        late = await client.get("/readyz")
    os.kill(os.getpid(), signal.SIGTERM)
    await serving
    assert (early.status_code, late.status_code) == (503, 200)


def test_ctrl_c_while_the_model_loads_ends_at_once() -> None:
    with started(60) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert out == ""
