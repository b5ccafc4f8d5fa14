"""The page, and the web application that serves it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import gradio as gr
from fastapi import FastAPI

from app.service import ChatService
from ui.layout import draw
from ui.running import Running
from ui.theme import theme
from ui.wiring import add_api, wire

STYLE = Path(__file__).with_name("style.css")
WAITING_TURNS = 256  # more than these are told to come back later


def build_ui(service: ChatService, *, user: str, running: Running | None = None) -> gr.Blocks:
    """The chat of `user`. Nothing is sent to anybody else: no analytics, no fonts.

    `running` keeps the turns in progress, for whoever has to end them.
    """
    demo = gr.Blocks(title="InferScale", analytics_enabled=False, fill_width=True)
    with demo:
        wire(draw(service), service, user, demo, running or Running())
        add_api(service, user)
    demo.queue(max_size=WAITING_TURNS, api_open=False)
    return demo


def create_app(service: ChatService, *, user: str) -> FastAPI:
    """An ASGI application with the chat at `/`, for the event loop `service` lives on.

    The caller runs it, and closes `service` afterwards: turns in progress end before.
    """
    running = Running()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await running.close()

    app = FastAPI(
        title="InferScale", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None
    )
    gr.mount_gradio_app(
        app,
        build_ui(service, user=user, running=running),
        path="/",
        footer_links=[],
        run_history=False,
        show_error=True,
        ssr_mode=False,
        theme=theme(),
        head=_style(),
    )
    return app


def _style() -> str:
    # As `css=` Gradio would prefix every rule, and rules for the body would match nothing.
    return f"<style>{STYLE.read_text(encoding='utf-8')}</style>"
