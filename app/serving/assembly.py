"""Assembly of the web application: the page, the API and the sign-in pages behind one gate."""

from typing import Protocol

from starlette.types import ASGIApp

from app.api.access import ApiContext
from app.api.application import create_api
from app.api.gate import Gate
from app.auth.accounts import Accounts
from app.auth.api_keys import ApiKeys
from app.auth.browser_sessions import BrowserSessions
from app.auth.sign_in import SignIn
from app.auth.sign_in_page import create_sign_in_app
from app.service import ChatService
from app.settings import Settings


class PageFactory(Protocol):
    """Makes the page over a service; the page is one layer up, so it is handed in from there.

    It is `user`'s page; without one that of the Caller in the scope of each request. With
    `sign_out` it has a way out, with `passwords` one to where users change their own.
    """

    def __call__(
        self, service: ChatService, *, user: str | None, sign_out: bool, passwords: bool
    ) -> ASGIApp: ...


def create_app(
    service: ChatService, settings: Settings, page: PageFactory
) -> tuple[ApiContext, Gate]:
    """Assemble the page and the API over one service; returns the API's context too."""
    keys = sessions = sign_in_app = None
    if settings.auth != "off":
        keys = ApiKeys(service.database)
        sessions = BrowserSessions(service.database, settings.session_days)
    sign_in = SignIn(settings, keys, sessions)
    if sessions and sign_in.on_page:
        accounts = Accounts(service.database) if settings.auth == "accounts" else None
        sign_in_app = create_sign_in_app(sessions, accounts)
    chat_page = page(
        service,
        user=None if sign_in.required else settings.user,
        sign_out=sign_in.on_page,
        passwords=settings.auth == "accounts",
    )
    context = ApiContext(service, settings, sign_in)
    return context, Gate(create_api(context), chat_page, sign_in, settings, sign_in_app)
