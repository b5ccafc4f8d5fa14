"""Server of the chat: the port is taken first, then the model loads, then it is served."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.auth.sign_in import check_exposure
from app.composition import Progress, running_service
from app.serving.listener import bind
from app.serving.startup_page import StartupPage
from app.serving.stop_signals import signals
from app.serving.uvicorn_server import Server, uvicorn_server
from app.settings import Settings
from memory_engine.engines.base import Engine

if TYPE_CHECKING:
    from app.service import ChatService
    from app.serving.assembly import PageFactory


async def serve(
    settings: Settings,
    page: "PageFactory",
    *,
    announce: Callable[[str], None],
    progress: Progress,
    engine: Engine | None = None,
) -> None:
    """Serve the chat until SIGINT or SIGTERM, then drain and return.

    While the model loads, everybody is told so. `page` makes the page when the service is
    there, and `announce` gets its URL. Raises PortTakenError before anything is loaded, and
    SettingsError where anybody could ask.
    """
    check_exposure(settings)
    with bind(settings.host, settings.port) as listener:
        stopper = _Stopper()
        with signals(stopper.stop), contextlib.closing(StartupPage(listener)) as meanwhile:
            try:
                async with running_service(settings, engine=engine, progress=progress) as service:
                    await _note_where_nobody_can_sign_in(service, settings, progress)
                    url = _url(settings, listener)
                    stopper.server = _server(service, settings, page, lambda: announce(url))
                    meanwhile.close()
                    await stopper.server.serve(sockets=[listener])
                    progress("Stopping: finishing what is to be remembered ...")
            except asyncio.CancelledError:
                if not stopper.stopping:
                    raise


class _Stopper:
    """Stops the running task while it loads, then its server; a second time without a drain."""

    def __init__(self) -> None:
        work = asyncio.current_task()
        assert work is not None
        self._work = work
        self.server: Server | None = None
        self.stopping = False

    def stop(self) -> None:
        if self.server:
            self.server.force_exit = self.server.should_exit
            self.server.should_exit = True
        elif not self.stopping:
            self._work.cancel()
        self.stopping = True


def _server(
    service: "ChatService",
    settings: Settings,
    page: "PageFactory",
    listening: Callable[[], None],
) -> Server:
    # Web libraries take seconds to import: by then the port is held and the model loaded.
    from app.serving.assembly import create_app

    context, app = create_app(service, settings, page)
    return uvicorn_server(
        app,
        settings,
        listening=listening,
        drain=lambda: context.replies.drain(settings.drain_seconds),
    )


async def _note_where_nobody_can_sign_in(
    service: "ChatService", settings: Settings, progress: Progress
) -> None:
    if settings.auth == "accounts":
        from app.auth.accounts import Accounts

        if not await Accounts(service.database).listed():
            progress("Nobody can sign in yet: make an account with `inferscale accounts add NAME`.")


def _url(settings: Settings, listener: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listener.getsockname()[1]}"
