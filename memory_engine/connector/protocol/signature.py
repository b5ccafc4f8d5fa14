"""Signatures of requests: who reaches the engine directly can read nobody's memory.

With a key, a request carries `signature`, the hexadecimal HMAC-SHA256 over all its other
fields, by name, in a canonical form. Segment ids name exact tokens and owner, so a request
that is sent again asks for what was allowed before, at most.
"""

import hashlib
import hmac
from collections.abc import Mapping

FIELD = "signature"
KEY_VARIABLE = "INFERSCALE_SIGNING_KEY"
"""The environment variable that has the key of an engine which is not told it otherwise."""


def sign(fields: Mapping[str, object], key: bytes) -> str:
    """The signature of a request's fields, but for the signature itself.

    Each field counts by name, type and value, each part behind its length; so no two
    requests have one canonical form.
    """
    parts = []
    for name in sorted(fields):
        if name != FIELD:
            value = fields[name]
            kind, text = type(value).__name__, str(value)
            parts.append(f"{len(name)}:{name}{len(kind)}:{kind}{len(text)}:{text}")
    return hmac.digest(key, "".join(parts).encode(), "sha256").hex()


def is_signed(fields: Mapping[str, object], key: bytes) -> bool:
    """True if the fields carry their right signature."""
    given = fields.get(FIELD)
    return isinstance(given, str) and hmac.compare_digest(
        given.encode(), sign(fields, key).encode()
    )


def api_key(signing_key: str) -> str:
    """The API key of the HTTP server of an engine that has this signing key."""
    return hmac.new(signing_key.encode(), b"api key", hashlib.sha256).hexdigest()
