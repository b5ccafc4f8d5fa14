"""Access to the API: the context of its endpoints, the caller, and the rate limit."""

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Header, Request
from limits import parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from pydantic import BaseModel, Field

from app.api.running_replies import RunningReplies
from app.auth.sign_in import Caller, SignIn
from app.settings import Settings
from memory_engine.errors import BusyError

if TYPE_CHECKING:
    from app.service import ChatService


class Rates:
    """Rate limits by user; `limit` as in the settings, empty for no limit."""

    def __init__(self, limit: str) -> None:
        self._limits = parse_many(limit) if limit else []
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def hit(self, name: str) -> None:
        """Count a request. Raises BusyError for one too many."""
        for limit in self._limits:
            if not self._limiter.hit(limit, name):
                raise BusyError(f"The limit is {limit}.", limit.get_expiry())


class ApiContext:
    """The service, settings and running replies that the endpoints share; one for the API."""

    def __init__(self, service: "ChatService", settings: Settings, sign_in: SignIn) -> None:
        self.service = service
        self.settings = settings
        self.sign_in = sign_in
        self.replies = RunningReplies(settings.max_waiting)
        self.rates = Rates(settings.rate_limit)


def api_context(request: Request) -> ApiContext:
    """The context of the API that a request came to."""
    found = request.app.state.context
    assert isinstance(found, ApiContext)
    return found


async def signed_in(request: Request) -> Caller:
    """The caller of a request. Raises SignInError, and BusyError for one too many requests."""
    api = api_context(request)
    peer = request.client.host if request.client else None
    caller = await api.sign_in.caller(request.headers, peer)
    api.rates.hit(caller.name or "")
    return caller


ApiContextDep = Annotated[ApiContext, Depends(api_context)]
SignedIn = Annotated[Caller, Depends(signed_in)]


class ChatHeaders(BaseModel):
    """Headers in which a program describes a chat; Open WebUI has names of its own for them."""

    conversation: str | None = Field(None, alias="X-Conversation-Id", max_length=200)
    task: str | None = Field(None, alias="X-InferScale-Task", max_length=200)
    open_webui_chat: str | None = Field(None, alias="X-OpenWebUI-Chat-Id", max_length=200)
    open_webui_user: str | None = Field(None, alias="X-OpenWebUI-User-Id", max_length=200)


ChatHeadersDep = Annotated[ChatHeaders, Header()]
