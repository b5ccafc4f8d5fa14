"""The API as a web application, without the page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.routing import Route

from app.api import chat, memories, operations
from app.api.access import ApiContext
from app.api.api_docs import add_docs
from app.api.api_errors import add_handlers
from app.api.mcp import McpApp


def create_api(context: ApiContext) -> FastAPI:
    """Make the API over `context`, for the event loop that its service lives on.

    `/mcp` works within the application's lifespan, all else without.
    """
    mcp = McpApp(context)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with mcp.running():
            yield

    app = FastAPI(
        lifespan=lifespan,
        title="InferScale",
        version=version("inferscale"),
        description="Chat completions with memory, in the shape of OpenAI's API.",
        docs_url=None,
        redoc_url=None,
        # A path with an empty id must not become the path of everything.
        redirect_slashes=False,
    )
    app.state.context = context
    for part in (chat, memories, operations):
        app.include_router(part.router)
    app.router.routes.append(Route("/mcp", mcp, methods=["GET", "POST", "DELETE"]))
    add_docs(app)
    add_handlers(app)
    return app
