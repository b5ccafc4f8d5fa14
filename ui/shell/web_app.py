"""The page as Gradio blocks, and the web application that serves it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import gradio as gr
from fastapi import FastAPI, Request

from app.auth.sign_in import CALLER, Caller
from app.service import ChatService
from ui.chat.running_turns import RunningTurns
from ui.shell.page_layout import draw
from ui.shell.session_guard import SessionGuard
from ui.shell.theme import theme
from ui.shell.user_handlers import UserHandlers
from ui.shell.user_menu import SIGNED_OUT
from ui.shell.wiring import add_api, wire

STYLE = Path(__file__).with_name("style.css")
LARGEST_IMPORT = "64mb"
WAITING_TURNS = 256  # more than these are told to come back later


def build_ui(
    service: ChatService,
    *,
    running: RunningTurns | None = None,
    shared: bool = False,
    sign_out: bool = False,
    passwords: bool = False,
) -> gr.Blocks:
    """Build the chat, for whoever asks. Nothing is sent to anybody else: no analytics, no fonts.

    `running` keeps the turns in progress, for whoever has to end them. `shared` says that
    there may be more than one user; with `sign_out` the page has their name and a way out, with
    `passwords` also the way to where they change their own.
    """
    users = UserHandlers(service, running or RunningTurns(), shared=shared)
    demo = gr.Blocks(title="InferScale", analytics_enabled=False, fill_width=True)
    with demo:
        wire(draw(service, sign_out=sign_out), users, demo, passwords=passwords)
        add_api(service)
    demo.queue(max_size=WAITING_TURNS, api_open=False)
    return demo


def create_app(
    service: ChatService, *, user: str | None, sign_out: bool = False, passwords: bool = False
) -> FastAPI:
    """Make an ASGI application with the chat at `/`, for the event loop `service` lives on.

    It is `user`'s chat; without one that of the Caller in the scope of each request, and of
    nobody where there is none. The caller runs it, and closes `service` afterwards: turns in
    progress end before.
    """

    def user_of(request: Request) -> str | None:
        caller: Caller | None = request.scope.get(CALLER)
        return user or (caller.default if caller else None)

    running = RunningTurns()
    blocks = build_ui(
        service, running=running, shared=user is None, sign_out=sign_out, passwords=passwords
    )
    app = _guarded_app(running, user_of)
    gr.mount_gradio_app(
        app,
        blocks,
        path="/",
        auth_dependency=user_of,
        footer_links=[],
        run_history=False,
        show_error=False,
        max_file_size=LARGEST_IMPORT,
        ssr_mode=False,
        theme=theme(),
        head=_style() + (SIGNED_OUT if sign_out else ""),
    )
    return app


def _guarded_app(running: RunningTurns, user_of: Callable[[Request], str | None]) -> FastAPI:
    """The application without its page: it guards the page's tabs, and ends turns at its end."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await running.close()

    app = FastAPI(
        title="InferScale", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None
    )
    app.add_middleware(SessionGuard, user_of=user_of)
    return app


def _style() -> str:
    # As `css=` Gradio would prefix every rule, and rules for the body would match nothing.
    return f"<style>{STYLE.read_text(encoding='utf-8')}</style>"
