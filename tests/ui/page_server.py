"""A page served on a port of its own, by a loop of its own, for tests that look from outside."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Generic, TypeVar

import pytest
import uvicorn

from app.service import ChatService
from app.serving.assembly import create_app as assemble
from app.settings import Settings
from tests.ui.fake_service import FakeService
from ui import create_app

# What Gradio asks of pandas, in its own threads.
GRADIO_WARNINGS = [
    pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting' is deprecated"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]

Opened = TypeVar("Opened")
Result = TypeVar("Result")


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


class Served(Generic[Opened]):
    """`url` of the page, and what was opened for it, which lives on the server's loop."""

    def __init__(self, url: str, opened: Opened, loop: asyncio.AbstractEventLoop) -> None:
        self.url = url
        self.opened = opened
        self._loop = loop

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of `work`, run on the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)


@contextmanager
def served(
    open_it: Callable[[], AbstractAsyncContextManager[Opened]],
    service_of: Callable[[Opened], ChatService],
    settings: Settings | None = None,
) -> Iterator[Served[Opened]]:
    """Serve the chat of what `open_it` opens until the block ends; without settings ann's."""
    ready: list[Served[Opened]] = []
    started, stop = threading.Event(), threading.Event()

    async def run() -> None:
        async with open_it() as opened:
            _, app = assemble(service_of(opened), settings or Settings(user="ann"), create_app)
            config = uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=1)
            server = _Server(config)
            running = asyncio.create_task(server.serve())
            await server.listening.wait()
            port = server.servers[0].sockets[0].getsockname()[1]
            ready.append(Served(f"http://127.0.0.1:{port}", opened, asyncio.get_running_loop()))
            started.set()
            await asyncio.to_thread(stop.wait)
            server.should_exit = True
            await running

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert started.wait(60), "the page was not served within a minute"
    try:
        yield ready[0]
    finally:
        stop.set()
        thread.join(30)


@contextmanager
def fake_served(service: FakeService) -> Iterator[Served[FakeService]]:
    """Serve the chat of a service whose replies are written down."""

    @asynccontextmanager
    async def open_it() -> AsyncIterator[FakeService]:
        yield service

    with served(open_it, lambda opened: opened) as page:
        yield page
