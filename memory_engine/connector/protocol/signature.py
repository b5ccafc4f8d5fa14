"""Signatures of requests: who reaches the engine directly can read nobody's memory.

With a key, `kv_transfer_params["inferscale"]` carries `signature`, the hexadecimal
HMAC-SHA256 over operation, owner and segments. Segment ids name exact tokens and owner, so
a signature that is sent again asks for what was allowed before, at most.
"""

import hashlib
import hmac
from collections.abc import Mapping

FIELD = "signature"
KEY_VARIABLE = "INFERSCALE_SIGNING_KEY"
"""The environment variable that has the key of an engine which is not told it otherwise."""


def sign(params: Mapping[str, object], key: bytes) -> str:
    """The signature of one request's parameters."""
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for name in ("op", "owner", "segments"):
        # Absent and null mean the same to the connector, and "" does not.
        value = params.get(name)
        data = b"-" if value is None else b"+" + str(value).encode()
        mac.update(len(data).to_bytes(8, "big") + data)
    return mac.hexdigest()


def is_signed(params: Mapping[str, object], key: bytes) -> bool:
    """Whether the parameters carry their right signature."""
    given = params.get(FIELD)
    return isinstance(given, str) and hmac.compare_digest(
        given.encode(), sign(params, key).encode()
    )
