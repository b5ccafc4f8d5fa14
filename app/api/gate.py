"""Gate in front of all applications: routes requests to API or page, and turns some away."""

import logging
import re
from time import perf_counter
from uuid import uuid4

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.api_errors import answer, body_of
from app.auth.sign_in import CALLER, SignIn, from_elsewhere, is_loopback
from app.settings import Settings
from memory_engine.errors import ForbiddenError, SignInError, TooLargeError, UserError

SIGN_IN = "/sign-in"
SIGN_IN_PATHS = {SIGN_IN, "/sign-out", "/password"}
# Gradio's program for the browser, the same for everybody.
PUBLIC = ("/static/", "/assets/", "/theme.css", "/favicon.ico")
SAFE = {"GET", "HEAD", "OPTIONS"}
MCP = "/mcp"
OWN_PATHS = {"/healthz", "/readyz", "/version", "/metrics", "/openapi.json", "/docs", MCP}
ELSEWHERE = "A page of another site made the browser send this request."
log = logging.getLogger(__name__)
REQUEST_ID = re.compile(r"[\w.-]{1,100}", re.ASCII)


class Gate:
    """All applications on one port: all begin before the first request, and end after the last.

    `sign_in_app` is where browsers sign in, where they do.
    """

    def __init__(
        self,
        api: FastAPI,
        page: ASGIApp,
        sign_in: SignIn,
        settings: Settings,
        sign_in_app: ASGIApp | None = None,
    ) -> None:
        self._api = api
        self._page = page
        self._sign_in_app = sign_in_app
        self._sign_in = sign_in
        self._host = settings.host
        self._most_bytes = settings.max_request_kib << 10

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with self._api.router.lifespan_context(self._api):
                await self._page(scope, receive, send)
        elif scope["type"] != "http":
            # Neither has web sockets, so nobody has to be signed in for one.
            await send({"type": "websocket.close", "code": 1000})
        elif scope["path"] in OWN_PATHS or scope["path"].startswith("/v1/"):
            await self._to_api(scope, receive, send)
        else:
            await self._to_page(scope, receive, send)

    async def _to_api(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if REQUEST_ID.fullmatch(given) else uuid4().hex

        began = perf_counter()

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
                _note(request_id, scope, message["status"], perf_counter() - began)
            await send(message)

        try:
            self._check_host(headers.get("host", ""))
            if scope["path"] == MCP and from_elsewhere(headers):
                raise ForbiddenError(ELSEWHERE)
            limited = self._limited(receive, headers.get("content-length", ""))
        except UserError as error:
            await answer(error)(scope, receive, send_with_id)
            return
        await self._api(scope, limited, send_with_id)

    async def _to_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            self._check_host(headers.get("host", ""))
            if scope["method"] not in SAFE and from_elsewhere(headers):
                raise ForbiddenError(ELSEWHERE)
            signs_in = self._sign_in_app is not None and scope["path"] in SIGN_IN_PATHS
            if not signs_in and not scope["path"].startswith(PUBLIC):
                peer = scope["client"][0] if scope.get("client") else None
                scope[CALLER] = await self._sign_in.visitor(headers, peer)
        except UserError as error:
            await self._turned_away(error, scope)(scope, receive, send)
            return
        if self._sign_in_app and signs_in:
            await self._sign_in_app(scope, self._limited(receive, ""), send)
        else:
            await self._page(scope, receive, self._not_kept(scope, send))

    def _not_kept(self, scope: Scope, send: Send) -> Send:
        """`send`; where people sign in and out, no browser shows the page again by itself."""
        if not self._sign_in.required or scope["path"].startswith(PUBLIC):
            return send

        async def send_not_kept(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).setdefault("Cache-Control", "no-store")
            await send(message)

        return send_not_kept

    def _turned_away(self, error: UserError, scope: Scope) -> ASGIApp:
        """A person is sent to sign in; everybody else is told why not."""
        by_person = scope["method"] == "GET" and scope["path"] == "/"
        if isinstance(error, SignInError) and self._sign_in_app and by_person:
            return RedirectResponse(SIGN_IN, 303)
        headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, SignInError) else None
        status, body = body_of(error)
        return PlainTextResponse(body["error"]["message"], status, headers)

    def _check_host(self, header: str) -> None:
        # Where nobody signs in, a page of another site could have its name resolved to this
        # machine, and would then read what its own origin may (DNS rebinding).
        host = header.rpartition(":")[0] if re.search(r":\d+$", header) else header
        host = host.strip("[]")
        if not self._sign_in.required and host != self._host and not is_loopback(host):
            raise ForbiddenError(f"This server is not called {host[:100]!r}. Use its address.")

    def _limited(self, receive: Receive, length: str) -> Receive:
        """`receive`, failing at a body that is too large. Raises TooLargeError if it says so."""
        problem = f"A request may have {self._most_bytes >> 10} KiB. Send it in parts."
        if length.isdigit() and int(length) > self._most_bytes:
            raise TooLargeError(problem)
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most_bytes:
                raise HTTPException(413, problem)
            return message

        return counted


def _note(request_id: str, scope: Scope, status: int, seconds: float) -> None:
    # Neither query nor body: those may hold what somebody said.
    fields = {
        "request_id": request_id,
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    log.info(
        "%(method)s %(path)s: %(status)d after %(ms)s ms, %(request_id)s", fields, extra=fields
    )
