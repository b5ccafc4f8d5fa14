"""What every endpoint asks first: who is it, and is there room for one more request."""

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
    """How many requests a user may send; `limit` as in the settings, empty for no limit."""

    def __init__(self, limit: str) -> None:
        self._limits = parse_many(limit) if limit else []
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def hit(self, name: str) -> None:
        """Count a request. Raises BusyError for one too many."""
        for limit in self._limits:
            if not self._limiter.hit(limit, name):
                raise BusyError(f"The limit is {limit}.", limit.get_expiry())


class Desk:
    """What the endpoints work with; one for the whole API."""

    def __init__(self, service: "ChatService", settings: Settings, sign_in: SignIn) -> None:
        self.service = service
        self.settings = settings
        self.sign_in = sign_in
        self.replies = RunningReplies(settings.max_waiting)
        self.rates = Rates(settings.rate_limit)


def desk(request: Request) -> Desk:
    """The API's desk."""
    found = request.app.state.desk
    assert isinstance(found, Desk)
    return found


async def signed_in(request: Request) -> Caller:
    """Who asks. Raises SignInError, and BusyError for who asks too often."""
    at = desk(request)
    peer = request.client.host if request.client else None
    caller = await at.sign_in.caller(request.headers, peer)
    at.rates.hit(caller.name or "")
    return caller


AtDesk = Annotated[Desk, Depends(desk)]
SignedIn = Annotated[Caller, Depends(signed_in)]


class ChatHeaders(BaseModel):
    """What a program says of a chat in headers; Open WebUI has names of its own for it."""

    conversation: str | None = Field(None, alias="X-Conversation-Id", max_length=200)
    task: str | None = Field(None, alias="X-InferScale-Task", max_length=200)
    open_webui_chat: str | None = Field(None, alias="X-OpenWebUI-Chat-Id", max_length=200)
    open_webui_user: str | None = Field(None, alias="X-OpenWebUI-User-Id", max_length=200)


AtHead = Annotated[ChatHeaders, Header()]
