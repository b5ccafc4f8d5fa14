"""The API as a web application, without the page."""

from importlib.metadata import version

from fastapi import FastAPI

from app.api import chat, memories, operations
from app.api.access import Desk
from app.api.docs import add_docs
from app.api.errors import add_handlers


def create_api(desk: Desk) -> FastAPI:
    """The API over `desk`, for the event loop that its service lives on."""
    app = FastAPI(
        title="InferScale",
        version=version("inferscale"),
        description="Chat completions with memory, in the shape of OpenAI's API.",
        docs_url=None,
        redoc_url=None,
        # A path with an empty id must not become the path of everything.
        redirect_slashes=False,
    )
    app.state.desk = desk
    for part in (chat, memories, operations):
        app.include_router(part.router)
    add_docs(app)
    add_handlers(app)
    return app
