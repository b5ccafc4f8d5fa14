"""Startup page while the model loads: reloads itself for browsers, errors for programs."""

import asyncio
import json
import socket
from http import HTTPStatus
from importlib.resources import files
from string import Template

PAGE = Template(files("app").joinpath("data/plain_page.html").read_text("utf-8"))
WAIT = "The model is being loaded, which may take a minute or two."
MESSAGE = f"InferScale is starting. {WAIT}"
CONTENT = f'<h1>InferScale is starting</h1><p role="status">{WAIT} This page reloads itself.</p>'
RELOAD_SECONDS = 2
MOST_BYTES = 1 << 16
PATIENCE_SECONDS = 5  # for a request that comes slowly, and for who does not hang up


class StartupPage:
    """Answers whoever connects to `listener`, one request a connection, until it is closed.

    Who connects after that is kept waiting by the system, for the next to accept. What was
    accepted is answered: asyncio's own server loses connections when it is closed between
    accepting one and making a transport of it.
    """

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._answers: set[asyncio.Task[None]] = set()
        self._accepting = True
        listener.setblocking(False)
        asyncio.get_running_loop().add_reader(listener, self._accept)

    def close(self) -> None:
        """Accept nothing more, if that is not so already; the listener stays open."""
        if self._accepting:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._accepting = False

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it hung up before it was its turn
        answer = asyncio.create_task(_converse(connection))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)


async def _converse(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection, limit=MOST_BYTES)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(_answer(head))
            writer.write_eof()
            # Closing before all was read would have the system take back the answer.
            while await reader.read(MOST_BYTES):
                pass
    except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # whoever it was has gone, or speaks no HTTP
    finally:
        writer.close()


def _answer(head: bytes) -> bytes:
    """The response to a request that begins with `head`."""
    method, target, *_ = [*head.split(b"\r\n", 1)[0].decode("latin-1").split(), "", ""]
    path = target.partition("?")[0]
    status, kind, text = HTTPStatus.SERVICE_UNAVAILABLE, "application/json", ""
    if path == "/healthz":
        status, text = HTTPStatus.OK, json.dumps({"status": "ok"})
    elif path == "/readyz":
        text = json.dumps({"status": "not ready", "reason": "Starting"})
    elif path.startswith("/v1/"):
        error = {"message": MESSAGE, "type": "server_error", "param": None, "code": "starting"}
        text = json.dumps({"error": error})
    else:
        kind = "text/html; charset=utf-8"
        text = PAGE.substitute(title="InferScale is starting", content=CONTENT)
    body = text.encode()
    lines = [
        f"HTTP/1.1 {status} {status.phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; font-src 'self'",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    if status != HTTPStatus.OK:
        lines.append(f"Retry-After: {RELOAD_SECONDS}")
    if path == "/":
        lines.append(f"Refresh: {RELOAD_SECONDS}")
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if method == "HEAD" else body)
