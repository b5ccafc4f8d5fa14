"""Guard of Gradio's endpoints: closes most of them, and keeps a browser tab to one user.

Gradio knows a tab by a name that the browser makes up, its session hash, and gives what is in
the queue for a tab, and its state, to whoever has that name.
"""

import json
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import parse_qs

from fastapi import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

GRADIO = "/gradio_api"
# Nobody's data: the page itself, which is filled by events, and what it is made of.
OPEN = {"/", "/config", "/favicon.ico", "/manifest.json", "/robots.txt", "/theme.css"} | {
    f"{GRADIO}/{path}" for path in ("app_id", "info", "startup-events", "theme.css", "upload")
}
OPEN_BELOW = ("/assets/", "/static/", "/svelte/")
# A tab's events and what comes of them. All else that Gradio has is closed.
OF_A_TAB = {f"{GRADIO}/{path}" for path in ("cancel", "queue/join", "reset", "run/predict")}
QUEUE = f"{GRADIO}/queue/data"
HEARTBEAT = f"{GRADIO}/heartbeat/"
TABS = 20_000  # more than Gradio keeps the state of
MOST_BYTES = 16 << 20  # an event carries the conversation that the tab shows


class SessionGuard:
    """Lets requests through to the page; a tab belongs to the user who is first to name it."""

    def __init__(self, app: ASGIApp, user_of: Callable[[Request], str | None]) -> None:
        self._app = app
        self._user_of = user_of
        self._owners: OrderedDict[str, str | None] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        if path in OPEN or path.startswith(OPEN_BELOW):
            await self._app(scope, receive, send)
        elif path == QUEUE:
            query = parse_qs(scope["query_string"].decode("latin-1"))
            await self._to_tab(query.get("session_hash", [None])[0], scope, receive, send)
        elif path.startswith(HEARTBEAT):
            await self._to_tab(path.removeprefix(HEARTBEAT), scope, receive, send)
        elif path in OF_A_TAB:
            body = await _body(receive)
            if body is None:
                message = "This conversation is too long to go on with. Begin a new one."
                await _refuse(413, message)(scope, receive, send)
            else:
                await self._to_tab(_tab_in(body), scope, _again(body, receive), send)
        else:
            await _refuse(404, "The page has no such part.")(scope, receive, send)

    async def _to_tab(self, tab: object, scope: Scope, receive: Receive, send: Send) -> None:
        if not isinstance(tab, str) or not tab:
            await _refuse(400, "Name the tab: session_hash.")(scope, receive, send)
        elif not self._belongs(tab, self._user_of(Request(scope))):
            await _refuse(403, "This tab is another user's.")(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _belongs(self, tab: str, user: str | None) -> bool:
        owner = self._owners.setdefault(tab, user)
        self._owners.move_to_end(tab)
        if len(self._owners) > TABS:
            self._owners.popitem(last=False)
        return owner == user


def _refuse(status: int, message: str) -> JSONResponse:
    # The page's script shows one of them, depending on the endpoint.
    return JSONResponse({"error": message, "detail": message}, status)


async def _body(receive: Receive) -> bytes | None:
    """The whole body, or None for one that is too large."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            return None
    return bytes(body)


def _tab_in(body: bytes) -> object:
    try:
        event = json.loads(body)
    except ValueError:
        return None
    return event.get("session_hash") if isinstance(event, dict) else None


def _again(body: bytes, receive: Receive) -> Receive:
    """`receive` with the body that was read already, then whatever comes."""
    read: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return read.pop() if read else await receive()

    return again
