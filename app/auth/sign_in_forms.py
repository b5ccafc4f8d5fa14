"""Parts that the sign-in and password pages share: layout, headers and session cookie."""

from http import HTTPStatus
from importlib.resources import files
from string import Template

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.auth.browser_sessions import BrowserSessions
from app.auth.sign_in import COOKIE

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; font-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",
}


def template(name: str) -> Template:
    """A template of `app/data`."""
    return Template(files("app").joinpath(f"data/{name}").read_text("utf-8"))


PAGE = template("plain_page.html")


def page(
    title: str,
    content: str,
    status: HTTPStatus = HTTPStatus.OK,
    retry_after: int | None = None,
) -> Response:
    """The page with `content`, which is HTML."""
    headers = HEADERS if retry_after is None else {**HEADERS, "Retry-After": str(retry_after)}
    return HTMLResponse(PAGE.substitute(title=title, content=content), status, headers)


def keep_session(
    request: Request, response: Response, token: str, sessions: BrowserSessions
) -> None:
    """Have the browser keep the session that began with `request`."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(sessions.lifetime.total_seconds()),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def peer_of(request: Request) -> str | None:
    """The address that a request comes from; a Unix socket has none."""
    return request.client.host if request.client else None
