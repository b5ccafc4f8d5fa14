"""`inferscale serve`: the chat in the browser."""

from typing import Annotated

import typer

from app.settings import Settings
from inferscale.command import run
from inferscale.output import note, say


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Serve the chat until Ctrl-C."""

    async def work(settings: Settings) -> None:
        from app.serving.server import serve as serve_chat

        await serve_chat(
            settings, announce=lambda url: say(f"InferScale is at {url}"), progress=note
        )

    run(work, host=host, port=port)
