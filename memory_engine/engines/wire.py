"""What a request carries to the connector: transfer parameters and the prefix-cache salt.

vLLM hashes injected blocks into its prefix cache as if they were exact. The salt keeps
approximate KV apart: it names mode, owner and the ordered segments, so that an injected
block can never serve a text request, another owner, or a fact that was encoded anew.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory_engine.connector.protocol.signature import FIELD, sign
from memory_engine.engines.base import ArenaStats
from memory_engine.types import Chunk, Prompt, Span

KEY = "inferscale"


def inject_params(prompt: Prompt) -> dict[str, object]:
    """Ask for the prompt's spans to be injected."""
    return {KEY: {"op": "inject", "owner": prompt.owner, "segments": _segments(prompt.spans)}}


def encode_params(owner: str, spans: Sequence[Span]) -> dict[str, object]:
    """Ask for the KV of these spans to be kept."""
    return {KEY: {"op": "encode", "owner": owner, "segments": _segments(spans)}}


def drop_params(owner: str, segment_ids: Sequence[str] | None) -> dict[str, object]:
    """Ask for segments to be forgotten; None for all of the owner's."""
    segments = None if segment_ids is None else " ".join(segment_ids)
    return {KEY: {"op": "drop", "owner": owner, "segments": segments}}


def demote_params(owner: str) -> dict[str, object]:
    """Ask for the owner's segments to be taken to host memory."""
    return {KEY: {"op": "demote", "owner": owner}}


def prefetch_params(owner: str) -> dict[str, object]:
    """Ask for the owner's segments to be brought back from host memory."""
    return {KEY: {"op": "prefetch", "owner": owner}}


def list_params(owner: str) -> dict[str, object]:
    """Ask which segments the owner has."""
    return {KEY: {"op": "list", "owner": owner}}


def snapshot_params(owner: str, fingerprint: str) -> dict[str, object]:
    """Ask for the owner's segments to be written to disk."""
    return {KEY: {"op": "snapshot", "owner": owner, "segments": fingerprint}}


def restore_params(owner: str, fingerprint: str) -> dict[str, object]:
    """Ask for the owner's segments to be read back."""
    return {KEY: {"op": "restore", "owner": owner, "segments": fingerprint}}


def probe_params(owner: str = "", spans: Sequence[Span] = ()) -> dict[str, object]:
    """Ask for the model to be checked on this request's KV, with `spans` injected first."""
    segments = _segments(spans) or None
    return {KEY: {"op": "probe", "owner": owner, "segments": segments}}


def stats_params() -> dict[str, object]:
    """Ask for the arena's counts."""
    return {KEY: {"op": "stats"}}


def account_params(owner: str, ticket: str) -> dict[str, object]:
    """Ask for the account of an earlier request of the owner that had this ticket."""
    return {KEY: {"op": "account", "owner": owner, "segments": ticket}}


def with_ticket(params: dict[str, object], ticket: str) -> dict[str, object]:
    """The same parameters, so that the request's account is kept under `ticket`."""
    inner = params[KEY]
    assert isinstance(inner, dict)
    return {KEY: inner | {"ticket": ticket}}


def accounted(chunk: Chunk, account: Mapping[str, Any], spans: Sequence[Span]) -> Chunk:
    """The last chunk of a reply with what the connector did with `spans`; others as they are.

    vLLM counts injected tokens among the cached ones. A refused injection misses all spans.
    """
    if chunk.usage is None or not account:
        return chunk
    injected = int(account.get("injected", 0))
    missing = [s.segment_id for s in spans] if account.get("error") else account.get("missing", ())
    usage = replace(
        chunk.usage,
        injected_tokens=injected,
        cached_tokens=max(0, chunk.usage.cached_tokens - injected),
        missing=tuple(missing),
    )
    return replace(chunk, usage=usage)


def arena_stats(counts: Mapping[str, int]) -> ArenaStats:
    """An account's counts."""
    return ArenaStats(
        segments=counts["segments"],
        tokens_used=counts["tokens_used"],
        pinned_segments=counts["pinned_segments"],
        host_segments=counts.get("host_segments", 0),
        host_tokens_used=counts.get("host_tokens_used", 0),
        evictions=counts["evictions"],
        promotions=counts["promotions"],
        demotions=counts["demotions"],
    )


def signed(params: dict[str, object], key: str) -> dict[str, object]:
    """The same parameters with their signature, if there is a key."""
    inner = params[KEY]
    assert isinstance(inner, dict)
    return {KEY: inner | {FIELD: sign(inner, key.encode())}} if key else params


def api_key(signing_key: str) -> str:
    """What an engine's HTTP server wants to see of whoever knows its signing key."""
    return hmac.new(signing_key.encode(), b"api key", hashlib.sha256).hexdigest()


def prompt_salt(prompt: Prompt, params: dict[str, object] | None, extra: str = "") -> str:
    """The prefix-cache salt of a generating request; `extra` sets it further apart.

    params: its `inject_params`, or None where nothing is injected.
    """
    if params is None:
        return _digest("text", prompt.owner, extra)
    injected = params[KEY]
    assert isinstance(injected, dict)
    return _digest("kv", prompt.owner, extra, str(injected["segments"]))


def encode_salt(owner: str) -> str:
    """The prefix-cache salt of encode requests: exact KV, shared among one owner's."""
    return _digest("encode", owner)


def _segments(spans: Iterable[Span]) -> str:
    return " ".join([f"{span.segment_id}:{span.start}:{span.length}" for span in spans])


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
