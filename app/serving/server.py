"""Serving the chat: the port is taken first, then the model loads, then it is served."""

import asyncio
import contextlib
import errno
import importlib
import logging
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import uvicorn

from app.auth.sign_in import SignIn, check_exposure
from app.composition import Progress, running_service
from app.models.engine_choice import keep_loaded
from app.serving.startup_page import StartupPage
from app.settings import Settings
from memory_engine.engines.base import Engine
from memory_engine.errors import PortTakenError, SettingsError

if TYPE_CHECKING:
    from app.api.access import Desk
    from app.api.gate import Gate
    from app.service import ChatService

DRAIN_SECONDS = 3  # an open page holds a connection that never ends by itself
BACKLOG = 128
# Longer than clients (5 s) and proxies (60 s) keep an idle connection: who closes it has to be
# the one that sends, or a request meets a connection that is just being closed.
KEEP_ALIVE_SECONDS = 75


async def serve(
    settings: Settings,
    *,
    announce: Callable[[str], None],
    progress: Progress,
    engine: Engine | None = None,
) -> None:
    """Serve the chat until SIGINT or SIGTERM, then drain and return.

    While the model loads, everybody is told so. `announce` gets the page's URL when the chat
    is there. Raises PortTakenError before anything is loaded, and SettingsError where anybody
    could ask.
    """
    check_exposure(settings)
    with bind(settings.host, settings.port) as listener:
        work = asyncio.current_task()
        assert work is not None
        server: list[uvicorn.Server] = []
        stopping: list[bool] = []

        def stop() -> None:
            stopping.append(True)
            if server:
                server[0].force_exit = server[0].should_exit
                server[0].should_exit = True
            elif len(stopping) == 1:
                work.cancel()

        with signals(stop), contextlib.closing(StartupPage(listener)) as meanwhile:
            try:
                async with running_service(settings, engine=engine, progress=progress) as service:
                    await _note_where_nobody_can_sign_in(service, settings, progress)
                    url = _url(settings, listener)
                    server.append(_server(service, settings, lambda: announce(url)))
                    meanwhile.close()
                    await server[0].serve(sockets=[listener])
                    progress("Stopping: finishing what is to be remembered ...")
            except asyncio.CancelledError:
                if not stopping:
                    raise


def bind(host: str, port: int) -> socket.socket:
    """A socket that holds the port: callers wait until somebody accepts.

    Raises PortTakenError, or SettingsError for a host or port that cannot be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise SettingsError(f"INFERSCALE_HOST={host} cannot work: {error.strerror}.") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _explained(error, host, port) from None
    return listener


def _explained(error: OSError, host: str, port: int) -> Exception:
    if error.errno == errno.EADDRINUSE:
        return PortTakenError(
            f"Another program listens on port {port}. Stop it, or choose another port with "
            f"--port (such as --port {port + 1 if port < 65535 else port - 1}) or INFERSCALE_PORT."
        )
    if error.errno == errno.EACCES:
        return SettingsError(
            f"INFERSCALE_PORT={port} cannot work: this user may not listen on it. "
            "Choose one above 1023 with --port."
        )
    return SettingsError(f"INFERSCALE_HOST={host} cannot work: {error.strerror}.")


@contextlib.contextmanager
def signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on the loop at SIGINT and SIGTERM.

    SIGINT is blocked and waited for in a thread of its own: a terminal sends Ctrl-C to the
    engine's process too, which inherits the block and so lives until we have drained.
    """
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    finished = threading.Event()

    def wait() -> None:
        while not finished.is_set():
            if signal.sigtimedwait({signal.SIGINT}, 0.2) is not None:
                loop.call_soon_threadsafe(stop)

    waiter = threading.Thread(target=wait, name="ctrl-c", daemon=True)
    waiter.start()
    try:
        yield
    finally:
        finished.set()
        waiter.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        loop.remove_signal_handler(signal.SIGTERM)


class _Server(uvicorn.Server):
    """Uvicorn that tells when it listens, and has no signal handlers of its own.

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


def _server(
    service: "ChatService", settings: Settings, listening: Callable[[], None]
) -> uvicorn.Server:
    desk, app = create_app(service, settings)
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
    return _Server(config, listening, lambda: desk.replies.drain(settings.drain_seconds))


def create_app(service: "ChatService", settings: Settings) -> "tuple[Desk, Gate]":
    """The page and the API over one service, and the desk of the API."""
    from app.api.access import Desk
    from app.api.application import create_api
    from app.api.gate import Gate
    from app.auth.accounts import Accounts
    from app.auth.api_keys import ApiKeys
    from app.auth.browser_sessions import BrowserSessions
    from app.auth.sign_in_page import create_door

    keys = sessions = door = None
    if settings.auth != "off":
        keys = ApiKeys(service.database)
        sessions = BrowserSessions(service.database, settings.session_days)
    sign_in = SignIn(settings, keys, sessions)
    if sessions and sign_in.on_page:
        accounts = Accounts(service.database) if settings.auth == "accounts" else None
        door = create_door(sessions, accounts)
    # The page is one layer up, so it is looked up by name when it is needed.
    page: Any = importlib.import_module("ui").create_app(
        service,
        user=None if sign_in.required else settings.user,
        sign_out=sign_in.on_page,
        passwords=settings.auth == "accounts",
    )
    desk = Desk(service, settings, sign_in)
    return desk, Gate(create_api(desk), page, sign_in, settings, door)


async def _note_where_nobody_can_sign_in(
    service: "ChatService", settings: Settings, progress: Progress
) -> None:
    if settings.auth == "accounts":
        from app.auth.accounts import Accounts

        if not await Accounts(service.database).listed():
            progress("Nobody can sign in yet: make an account with `inferscale accounts add NAME`.")


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


def _url(settings: Settings, listener: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listener.getsockname()[1]}"
