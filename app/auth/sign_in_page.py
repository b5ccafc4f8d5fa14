"""Sign-in page: a form that needs no script, and a session cookie."""

from html import escape
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from agent.text import storable
from app.auth.accounts import Accounts
from app.auth.browser_sessions import BrowserSessions
from app.auth.password_page import PasswordPage
from app.auth.sign_in import COOKIE, session_token
from app.auth.sign_in_attempts import SignInAttempts
from app.auth.sign_in_forms import HEADERS, keep_session, page, peer_of, template
from app.public_errors import public_message
from memory_engine.errors import BusyError, UserError

FORM, NAME = template("sign_in.html"), template("sign_in_name.html")


class SignInPage:
    """Signs browsers in with a password, or with a key where there are no `accounts`."""

    def __init__(
        self, sessions: BrowserSessions, accounts: Accounts | None, attempts: SignInAttempts
    ) -> None:
        self._sessions = sessions
        self._accounts = accounts
        self._attempts = attempts

    async def form(self, request: Request) -> Response:
        """Show the form to whoever is not signed in."""
        token = session_token(request.headers)
        if token and await self._sessions.owner_of(token, by_key=self._accounts is None):
            return RedirectResponse("/", HTTPStatus.SEE_OTHER, HEADERS)
        return self._page()

    async def sign_in(self, request: Request) -> Response:
        """Check what was typed; the browser gets a session and goes to the chat."""
        async with request.form(max_files=0, max_fields=4) as form:
            typed = {field: str(form.get(field, "")) for field in ("name", "secret")}
        name = storable(typed["name"]).strip()[:200]
        peer = peer_of(request)
        try:
            self._attempts.count(name, peer)
        except BusyError as error:
            return self._page(name, str(error), HTTPStatus.TOO_MANY_REQUESTS, error.retry_after)
        token = await self._token(name, typed["secret"])
        if token is None:
            return self._page(name, self._wrong, HTTPStatus.UNAUTHORIZED)
        self._attempts.succeeded(name, peer)
        await self._sessions.end(session_token(request.headers))
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER, HEADERS)
        keep_session(request, response, token, self._sessions)
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the session, and forget it in the browser too."""
        await self._sessions.end(session_token(request.headers))
        response = RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER, HEADERS)
        response.delete_cookie(COOKIE, httponly=True, samesite="lax")
        return response

    async def failed(self, request: Request, error: Exception) -> Response:
        """Show the form with an error, such as a database that is locked."""
        return self._page("", public_message(error), HTTPStatus.SERVICE_UNAVAILABLE)

    async def _token(self, name: str, secret: str) -> str | None:
        if self._accounts is None:
            return await self._sessions.begin_with_key(secret.strip())
        return await self._accounts.sign_in(name, secret, self._sessions)

    @property
    def _wrong(self) -> str:
        if self._accounts is None:
            return "This API key is not known, or was revoked."
        return "The name or the password is wrong."

    def _page(
        self,
        name: str = "",
        problem: str = "",
        status: HTTPStatus = HTTPStatus.OK,
        retry_after: int | None = None,
    ) -> Response:
        wrong = 'aria-invalid="true" aria-describedby="problem"' if problem else ""
        known = bool(name) or self._accounts is None
        field = NAME.substitute(name=escape(name), state=wrong if known else f"{wrong} autofocus")
        content = FORM.substitute(
            problem=f'<p id="problem" role="alert">{escape(problem)}</p>' if problem else "",
            name=field if self._accounts else "",
            label="Password" if self._accounts else "API key",
            state=f"{wrong} autofocus" if known else wrong,
            hint="" if self._accounts else '<p class="hint">It begins with isk-.</p>',
        )
        return page("Sign in to InferScale", content, status, retry_after)


def create_sign_in_app(sessions: BrowserSessions, accounts: Accounts | None) -> Starlette:
    """Make the application at /sign-in, /sign-out and, where there are passwords, /password."""
    attempts = SignInAttempts()
    sign_in_page = SignInPage(sessions, accounts, attempts)
    routes = [
        Route("/sign-in", sign_in_page.form, methods=["GET"]),
        Route("/sign-in", sign_in_page.sign_in, methods=["POST"]),
        Route("/sign-out", sign_in_page.sign_out, methods=["POST"]),
    ]
    if accounts:
        passwords = PasswordPage(sessions, accounts, attempts)
        routes += [
            Route("/password", passwords.form, methods=["GET"]),
            Route("/password", passwords.change, methods=["POST"]),
        ]
    return Starlette(routes=routes, exception_handlers={UserError: sign_in_page.failed})
