"""Rate limit of sign-in attempts, counted in this process."""

import ipaddress

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from memory_engine.errors import BusyError

FOR_A_NAME = parse("10/15 minutes")  # from one address, so that nobody locks others out
FOR_AN_ADDRESS = parse("100/15 minutes")


class SignInAttempts:
    """Attempts by name and address, and by address alone."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def count(self, name: str, peer: str | None) -> None:
        """Count an attempt before it is made. Raises BusyError for one too many."""
        address = _network(peer)
        for limit, key in ((FOR_A_NAME, (address, name)), (FOR_AN_ADDRESS, (address,))):
            if not self._limiter.hit(limit, *key):
                raise BusyError(
                    "There were too many failed tries. Wait a quarter of an hour.",
                    limit.get_expiry(),
                )

    def succeeded(self, name: str, peer: str | None) -> None:
        """Forget the failed attempts of this name from this address."""
        self._limiter.clear(FOR_A_NAME, _network(peer), name)


def _network(peer: str | None) -> str:
    """The address; of IPv6 the /64, of which one customer has all addresses."""
    try:
        address = ipaddress.ip_address(peer or "")
    except ValueError:  # a Unix socket has none
        return ""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    prefix = 32 if address.version == 4 else 64
    return str(ipaddress.ip_network((address, prefix), strict=False))
