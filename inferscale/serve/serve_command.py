"""Command `inferscale serve`: the chat in the browser."""

from typing import TYPE_CHECKING, Annotated

import typer

from app.settings import Settings
from inferscale.command import run
from inferscale.output import note, say

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from app.service import ChatService


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Serve the chat until Ctrl-C."""

    async def work(settings: Settings) -> None:
        from app.serving.server import serve as serve_chat

        await serve_chat(
            settings,
            chat_page,
            announce=lambda url: say(f"InferScale is at {url}"),
            progress=note,
        )

    run(work, host=host, port=port)


def chat_page(
    service: "ChatService", *, user: str | None, sign_out: bool, passwords: bool
) -> "ASGIApp":
    """Make the page of the chat; see `app.serving.assembly.PageFactory`."""
    # Gradio takes seconds to import: by now the port is held and the model loaded.
    from ui import create_app

    return create_app(service, user=user, sign_out=sign_out, passwords=passwords)
