"""Uvicorn as this server runs it: its configuration, its end, and what it logs."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from app.models.engine_choice import keep_loaded
from app.serving.listener import BACKLOG
from app.settings import Settings

DRAIN_SECONDS = 3  # an open page holds a connection that never ends by itself
# Longer than clients (5 s) and proxies (60 s) keep an idle connection: who closes it has to be
# the one that sends, or a request meets a connection that is just being closed.
KEEP_ALIVE_SECONDS = 75


class Server(uvicorn.Server):
    """Uvicorn that calls back when it listens, and has no signal handlers of its own.

    Its own handlers raise the signal again after the drain, which would end us badly.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        listening: Callable[[], None],
        drain: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(config)
        self._listening = listening
        self._drain = drain

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            keep_loaded()
            self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        if not self.force_exit:
            await self._drain()
        await super().shutdown(sockets)


def uvicorn_server(
    app: ASGIApp,
    settings: Settings,
    *,
    listening: Callable[[], None],
    drain: Callable[[], Awaitable[None]],
) -> Server:
    """Make the server of `app`; it calls `listening` when it does, and `drain` at its end."""
    config = uvicorn.Config(
        app,
        log_level=settings.log,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        access_log=settings.log in ("debug", "info"),
        # Who is believed to be a proxy has to be the one that the connection comes from.
        proxy_headers=settings.auth != "proxy",
        log_config=None,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    logging.getLogger("uvicorn.access").addFilter(_without_query)
    return Server(config, listening, drain)


def _is_news(record: logging.LogRecord) -> bool:
    # Cutting the connections of open pages is how every drain ends; no traceback for it.
    cut = record.exc_info is not None and isinstance(record.exc_info[1], asyncio.CancelledError)
    return not cut and "timeout graceful shutdown exceeded" not in record.getMessage()


def _without_query(record: logging.LogRecord) -> bool:
    # A query may hold what somebody looks for, and whose memory it is.
    if isinstance(record.args, tuple):
        record.args = tuple(
            arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args
        )
    return True
