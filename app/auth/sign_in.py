"""Identification of callers: by API key, browser session or proxy header, or not at all."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import cookie_parser

from agent.owner import owner_name
from app.auth.api_keys import BELOW, PREFIX, ApiKeys, key_owner
from app.auth.browser_sessions import BrowserSessions
from app.settings import Settings
from memory_engine.errors import SettingsError, SignInError

NO_KEY = (
    "Sign in with an API key, in the header `Authorization: Bearer isk-...`. "
    "`inferscale keys add --user NAME` makes one."
)

COOKIE = "inferscale_session"
CALLER = "inferscale.caller"  # where a request to the page has its Caller, in the ASGI scope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request. `name` is None where nobody has to sign in."""

    name: str | None
    default: str

    def owner(self, user: str | None) -> str:
        """The owner of the memory that is meant, if the request names `user`.

        For who signed in it is their own, or that of a user below them: never another's.
        """
        if self.name is None:
            return owner_name(user) if user else self.default
        return owner_name(f"{self.name}{BELOW}{owner_name(user)}" if user else self.name)


class SignIn:
    """Identifies callers as the settings say. `keys` is not needed where `auth` is off.

    `on_page` says that people sign in on a page of ours, and then have `sessions`.
    """

    def __init__(
        self, settings: Settings, keys: ApiKeys | None, sessions: BrowserSessions | None = None
    ) -> None:
        self.required = settings.auth != "off"
        self.on_page = settings.auth in ("accounts", "keys")
        self._by_key = settings.auth == "keys"
        self._user = settings.user
        self._keys = keys
        self._sessions = sessions
        self._header = settings.auth_header.lower() if settings.auth == "proxy" else None
        self._peers = networks(settings.auth_peers)

    async def visitor(self, headers: Mapping[str, str], peer: str | None) -> Caller:
        """Identify a visitor of the page: a browser that is signed in, or a `caller`."""
        token = session_token(headers)
        if self.on_page and token:
            assert self._sessions is not None, "sessions are there where browsers sign in"
            owner = await self._sessions.owner_of(token, by_key=self._by_key)
            if owner is not None:
                return Caller(owner, owner)
        return await self.caller(headers, peer)

    async def caller(self, headers: Mapping[str, str], peer: str | None) -> Caller:
        """Identify the sender of `headers` (names in lower case) at `peer`. Raises SignInError.

        A browser's session does not count: no other site can make it ask the API.
        """
        if not self.required:
            return Caller(None, self._user)
        key = _key(headers.get("authorization", ""))
        if key is not None:
            assert self._keys is not None, "keys are there where somebody has to sign in"
            owner = await self._keys.owner_of(key)
            if owner is None:
                raise SignInError("This API key is not known, or was revoked.")
            return Caller(owner, owner)
        if self._header and self._trusts(peer) and (named := headers.get(self._header)):
            return Caller(name := key_owner(named), name)
        raise SignInError(NO_KEY)

    def _trusts(self, peer: str | None) -> bool:
        try:
            address = ipaddress.ip_address(peer or "")
        except ValueError:  # a Unix socket has none
            return False
        return any(address in network for network in self._peers)


def check_exposure(settings: Settings) -> None:
    """Raise SettingsError where the server would be open to others, and say what to do."""
    if settings.auth == "off" and not is_loopback(settings.host):
        raise SettingsError(
            f"INFERSCALE_HOST={settings.host} can be reached from other machines, and nobody "
            "would have to sign in. Set INFERSCALE_AUTH=accounts and make an account with "
            "`inferscale accounts add NAME`; or INFERSCALE_AUTH=keys and a key with `inferscale "
            "keys add --user NAME`; or INFERSCALE_AUTH=proxy with the address of a proxy that "
            "signs users in as INFERSCALE_AUTH_PEERS. Or listen on 127.0.0.1."
        )
    peers = networks(settings.auth_peers)
    if settings.auth == "proxy" and not peers:
        raise SettingsError(
            "INFERSCALE_AUTH=proxy needs INFERSCALE_AUTH_PEERS: the addresses of the proxy, "
            "such as 10.0.0.5 or 127.0.0.1."
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def networks(text: str) -> list[Network]:
    """The addresses and networks in a list with commas. Raises SettingsError."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(ipaddress.ip_network(part, strict=False))
        except ValueError:
            raise SettingsError(
                f"INFERSCALE_AUTH_PEERS={text} cannot work: {part!r} is no IP address or network."
            ) from None
    return found


def session_token(headers: Mapping[str, str]) -> str:
    """The session's token in the cookies of a request, or nothing."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def from_elsewhere(headers: Mapping[str, str]) -> bool:
    """Whether a page of another origin made a browser send this request.

    `Sec-Fetch-Site` is the browser's own word, whatever a proxy makes of the host's name;
    browsers that do not send it, as without TLS, send `Origin`. Programs send neither.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def _key(header: str) -> str | None:
    """The key in an Authorization header.

    None for anything else, such as what a proxy signs its users in with.
    """
    scheme, _, value = header.partition(" ")
    value = value.strip()
    return value if scheme.lower() == "bearer" and value.startswith(PREFIX) else None
