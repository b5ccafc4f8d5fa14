"""The API over a whole agent and the fake engine: called directly, or on a port of its own."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from argon2 import PasswordHasher
from openai import AsyncOpenAI

from app.api.access import ApiContext
from app.api.application import create_api
from app.api.gate import Gate
from app.auth.accounts import Accounts
from app.auth.api_keys import ApiKeys
from app.auth.browser_sessions import BrowserSessions
from app.auth.passwords import Passwords
from app.auth.sign_in import SignIn
from app.auth.sign_in_page import create_sign_in_app
from app.settings import Settings
from tests.agent.agent_builder import Parts, opened, url_of

# Argon2id at its cheapest: how long it takes is the library's business.
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


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
    """An API, `parts` behind it, and how to reach it. `port` is 0 where it is called directly."""

    parts: Parts
    context: ApiContext
    keys: ApiKeys
    accounts: Accounts
    gate: Gate
    port: int = 0

    def openai(self, key: str = "none", **options: Any) -> AsyncOpenAI:
        """OpenAI's own client; close it."""
        client = self.http()
        url = f"http://127.0.0.1:{self.port or 80}/v1"
        return AsyncOpenAI(base_url=url, api_key=key, max_retries=0, http_client=client, **options)

    def http(self, key: str | None = None, peer: str = "127.0.0.1") -> httpx2.AsyncClient:
        """A plain client, from address `peer`; close it."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        transport: httpx2.AsyncBaseTransport
        if self.port:
            # Certificates would take longer to read than a test.
            transport = httpx2.AsyncHTTPTransport(verify=False)
        else:
            transport = httpx2.ASGITransport(
                self.gate, raise_app_exceptions=False, client=(peer, 1)
            )
        url = f"http://127.0.0.1:{self.port or 80}"
        return httpx2.AsyncClient(base_url=url, headers=headers, timeout=60, transport=transport)


@asynccontextmanager
async def api(
    folder: Path, settings: dict[str, Any] | None = None, **of_parts: Any
) -> AsyncIterator[Api]:
    """The API with `settings` over parts as `opened` makes them."""
    chosen = Settings(**(settings or {}))
    async with opened(url_of(folder), **of_parts) as parts:
        keys, sessions = (
            ApiKeys(parts.database),
            BrowserSessions(parts.database, chosen.session_days),
        )
        accounts = Accounts(parts.database, Passwords(CHEAP))
        context = ApiContext(parts.service, chosen, SignIn(chosen, keys, sessions))
        sign_in_app = create_sign_in_app(sessions, accounts if chosen.auth == "accounts" else None)
        gate = Gate(
            create_api(context),
            no_page,
            context.sign_in,
            chosen,
            sign_in_app if context.sign_in.on_page else None,
        )
        yield Api(parts, context, keys, accounts, gate)
        await context.replies.drain(5)


@asynccontextmanager
async def served(
    folder: Path, settings: dict[str, Any] | None = None, **of_parts: Any
) -> AsyncIterator[Api]:
    """The same on a port of its own, with uvicorn as the product has it."""
    async with api(folder, settings, **of_parts) as at:
        config = uvicorn.Config(at.gate, log_config=None, timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            at.port = listener.getsockname()[1]
            try:
                yield at
            finally:
                server.should_exit = True
                await at.context.replies.drain(5)
                await serving
