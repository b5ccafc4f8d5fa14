"""Password page: users who are signed in change their own password."""

from html import escape
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.auth.accounts import Accounts
from app.auth.browser_sessions import BrowserSessions
from app.auth.passwords import SHORTEST, check_password
from app.auth.sign_in import session_token
from app.auth.sign_in_attempts import SignInAttempts
from app.auth.sign_in_forms import HEADERS, keep_session, page, peer_of, template
from app.public_errors import public_message
from memory_engine.errors import BusyError, DatabaseError, UserError

FORM, CHANGED = template("password.html"), template("password_changed.html")
TITLE = "Change your password"
FIELDS = ("current", "new", "again")


class PasswordPage:
    """The form at /password. `attempts` are those of signing in: both guess the same password."""

    def __init__(
        self, sessions: BrowserSessions, accounts: Accounts, attempts: SignInAttempts
    ) -> None:
        self._sessions = sessions
        self._accounts = accounts
        self._attempts = attempts

    async def form(self, request: Request) -> Response:
        """Show the form to whoever is signed in."""
        name = await self._name(request)
        return _page(name) if name else _to_sign_in()

    async def change(self, request: Request) -> Response:
        """Change the password, if all that was typed is right; this browser stays signed in."""
        name = await self._name(request)
        if name is None:
            return _to_sign_in()
        async with request.form(max_files=0, max_fields=4) as form:
            current, new, again = (str(form.get(field, "")) for field in FIELDS)
        try:
            check_password(new)
        except UserError as error:
            return _page(name, "new", str(error), HTTPStatus.UNPROCESSABLE_ENTITY)
        if new != again:
            problem = "This is not the new password above. Type both again."
            return _page(name, "again", problem, HTTPStatus.UNPROCESSABLE_ENTITY)
        peer = peer_of(request)
        try:
            self._attempts.count(name, peer)
        except BusyError as error:
            status = HTTPStatus.TOO_MANY_REQUESTS
            return _page(name, "current", str(error), status, error.retry_after)
        try:
            token = await self._accounts.change_password(name, current, new, self._sessions)
        except DatabaseError as error:
            status = HTTPStatus.SERVICE_UNAVAILABLE
            return _page(name, "current", public_message(error), status)
        if token is None:
            problem = "This is not your current password."
            return _page(name, "current", problem, HTTPStatus.UNPROCESSABLE_ENTITY)
        self._attempts.succeeded(name, peer)
        response = page("Your password is changed", CHANGED.template)
        keep_session(request, response, token, self._sessions)
        return response

    async def _name(self, request: Request) -> str | None:
        token = session_token(request.headers)
        return await self._sessions.owner_of(token, by_key=False) if token else None


def _page(
    name: str,
    field: str = "current",
    problem: str = "",
    status: HTTPStatus = HTTPStatus.OK,
    retry_after: int | None = None,
) -> Response:
    """The form, with `problem` at `field`, which is where typing begins."""
    states, problems = dict.fromkeys(FIELDS, ""), dict.fromkeys(FIELDS, "")
    states[field] = "autofocus"
    if problem:
        states[field] = 'autofocus aria-invalid="true" aria-describedby="problem"'
        problems[field] = f'<p id="problem" role="alert">{escape(problem)}</p>'
    content = FORM.substitute(
        {f"{each}_state": state for each, state in states.items()},
        **{f"{each}_problem": message for each, message in problems.items()},
        name=escape(name),
        shortest=SHORTEST,
    )
    return page(TITLE, content, status, retry_after)


def _to_sign_in() -> Response:
    return RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER, HEADERS)
