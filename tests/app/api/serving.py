"""The API on a port of its own, over a whole agent and the fake engine."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from openai import AsyncOpenAI

from app.api.access import Desk
from app.api.application import create_api
from app.api.gate import Gate
from app.auth import SignIn
from app.auth_keys import ApiKeys
from app.settings import Settings
from tests.agent.parts import Parts, opened, url_of


async def no_page(scope: Any, receive: Any, send: Any) -> None:
    """In the place of the page: its start and end, and a greeting."""
    if scope["type"] == "lifespan":
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"the page"})


@dataclass
class Api:
    """A running API, `parts` behind it, and how to reach it."""

    parts: Parts
    desk: Desk
    keys: ApiKeys
    url: str

    def openai(self, key: str = "none", **options: Any) -> AsyncOpenAI:
        """OpenAI's own client; close it."""
        # Without certificates, which take longer to read than a test.
        plain = httpx.AsyncClient(verify=False)
        return AsyncOpenAI(
            base_url=f"{self.url}/v1", api_key=key, max_retries=0, http_client=plain, **options
        )

    def http(self, key: str | None = None) -> httpx.AsyncClient:
        """A plain client; close it."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, verify=False)


@asynccontextmanager
async def api(
    folder: Path, settings: dict[str, Any] | None = None, **of_parts: Any
) -> AsyncIterator[Api]:
    """Serve the API with `settings` over parts as `opened` makes them."""
    chosen = Settings(**(settings or {}))
    async with opened(url_of(folder), **of_parts) as parts:
        keys = ApiKeys(parts.database)
        desk = Desk(parts.service, chosen, SignIn(chosen, keys))
        gate = Gate(create_api(desk), no_page, desk.sign_in, chosen)
        config = uvicorn.Config(
            gate, log_config=None, timeout_graceful_shutdown=2, proxy_headers=False
        )
        server = uvicorn.Server(config)
        server.capture_signals = _nothing  # type: ignore[method-assign]
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                yield Api(parts, desk, keys, f"http://127.0.0.1:{listener.getsockname()[1]}")
            finally:
                server.should_exit = True
                await desk.replies.drain(2)
                await serving


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()
