"""Salts of vLLM's prefix cache, which keep approximate KV apart.

vLLM hashes injected blocks into its prefix cache as if they were exact. The salt keeps
approximate KV apart: it names mode, owner and the ordered segments, so that an injected
block can never serve a text request, another owner, or a fact that was encoded anew.
"""

import hashlib

from memory_engine.connector.protocol.params import KEY


def prompt_salt(owner: str, params: dict[str, object] | None, extra: str = "") -> str:
    """The salt of a generating request of `owner`; `extra` sets it further apart.

    params: its `inject_params`, or None where nothing is injected.
    """
    if params is None:
        return _digest("text", owner, extra)
    injected = params[KEY]
    assert isinstance(injected, dict)
    return _digest("kv", owner, extra, str(injected["segments"]))


def encode_salt(owner: str) -> str:
    """The salt of encode requests: exact KV, shared among one owner's."""
    return _digest("encode", owner)


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
