"""Requests to the connector: written by callers, read by the scheduler side in vLLM.

    {"version": 2, "op": <op>, "owner": <the user>, <fields of the op>, "signature": <hex>}

    op                      fields of the op
    inject                  segments "<id>:<start>:<end> ...", without gaps
    encode                  segments "<id>:<start>:<end> ..."
    probe                   segments as for inject, or null for none
    drop                    segments "<id> <id> ...", or null for all of the owner's
    demote, prefetch, list  none
    snapshot, restore       fingerprint: of the model
    stats                   none, and owner is ""
    outcome                 ticket: of an earlier request

`start` and `end` are token positions in the request's own prompt. Any request that is
streamed may have a ticket, under which `outcome` then finds its outcome. With a key every
field is signed (see `signature`). A request of another version is refused by that name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memory_engine.connector.protocol.signature import FIELD, is_signed, sign
from memory_engine.connector.protocol.spans import Span, Spans, read_spans, write_spans

KEY = "inferscale"
VERSION = 2
"""Raise it when fields or outcomes mean something else. Version 1 did not carry one."""
_FIELDS = {"version", "op", "owner", "segments", "fingerprint", "ticket", FIELD}
_TICKET_LENGTH = 64
_NO_SPANS = Spans()

Wire = dict[str, object]
Fields = Mapping[str, object]


class Op(StrEnum):
    """Operations of the protocol."""

    INJECT = "inject"
    ENCODE = "encode"
    DROP = "drop"
    DEMOTE = "demote"
    PREFETCH = "prefetch"
    LIST = "list"
    SNAPSHOT = "snapshot"
    RESTORE = "restore"
    PROBE = "probe"
    STATS = "stats"
    OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class Params:
    """A request as it was read. `drop` is the ids to drop, None for all of the owner's.

    `fingerprint` is the model's, for a snapshot. `ticket` names the request's outcome.
    """

    op: Op
    owner: str = ""
    spans: Spans = _NO_SPANS
    drop: tuple[str, ...] | None = None
    fingerprint: str = ""
    ticket: str = ""


def inject_params(owner: str, spans: Sequence[Span]) -> Wire:
    """Ask for the KV of these spans to be injected; they begin at 0 and have no gaps."""
    return _written(Op.INJECT, owner, segments=write_spans(spans))


def _read_inject(fields: Fields, prompt_tokens: int) -> Params:
    spans = read_spans(fields.get("segments"), prompt_tokens, contiguous=True)
    return Params(Op.INJECT, _owner(fields), spans)


def encode_params(owner: str, spans: Sequence[Span]) -> Wire:
    """Ask for the KV of these spans to be kept."""
    return _written(Op.ENCODE, owner, segments=write_spans(spans))


def _read_encode(fields: Fields, prompt_tokens: int) -> Params:
    spans = read_spans(fields.get("segments"), prompt_tokens, contiguous=False)
    return Params(Op.ENCODE, _owner(fields), spans)


def probe_params(owner: str = "", spans: Sequence[Span] = ()) -> Wire:
    """Ask for the model to be checked on this request's KV, with `spans` injected first."""
    return _written(Op.PROBE, owner, segments=write_spans(spans) or None)


def _read_probe(fields: Fields, prompt_tokens: int) -> Params:
    segments = fields.get("segments")
    if segments is None:
        return Params(Op.PROBE, str(fields.get("owner") or ""))
    return Params(Op.PROBE, _owner(fields), read_spans(segments, prompt_tokens, contiguous=True))


def drop_params(owner: str, segment_ids: Sequence[str] | None) -> Wire:
    """Ask for segments to be forgotten; None for all of the owner's."""
    segments = None if segment_ids is None else " ".join(segment_ids)
    return _written(Op.DROP, owner, segments=segments)


def _read_drop(fields: Fields, prompt_tokens: int) -> Params:
    segments = fields.get("segments", 0)  # left out is not null: nobody forgets all by mistake
    if segments is not None and not isinstance(segments, str):
        raise ValueError("segments of a drop must be ids in one string, or null for all")
    return Params(
        Op.DROP, _owner(fields), drop=None if segments is None else tuple(segments.split())
    )


def demote_params(owner: str) -> Wire:
    """Ask for the owner's segments to be taken to host memory."""
    return _written(Op.DEMOTE, owner)


def prefetch_params(owner: str) -> Wire:
    """Ask for the owner's segments to be brought back from host memory."""
    return _written(Op.PREFETCH, owner)


def list_params(owner: str) -> Wire:
    """Ask for the ids of the owner's segments."""
    return _written(Op.LIST, owner)


def _read_owner_only(fields: Fields, prompt_tokens: int) -> Params:
    return Params(Op(str(fields["op"])), _owner(fields))


def snapshot_params(owner: str, fingerprint: str) -> Wire:
    """Ask for the owner's segments to be written to disk."""
    return _written(Op.SNAPSHOT, owner, fingerprint=fingerprint)


def restore_params(owner: str, fingerprint: str) -> Wire:
    """Ask for the owner's segments to be read back from disk."""
    return _written(Op.RESTORE, owner, fingerprint=fingerprint)


def _read_fingerprint(fields: Fields, prompt_tokens: int) -> Params:
    fingerprint = fields.get("fingerprint")
    if not isinstance(fingerprint, str) or not fingerprint:
        raise ValueError("fingerprint must be the model's, a non-empty string")
    return Params(Op(str(fields["op"])), _owner(fields), fingerprint=fingerprint)


def stats_params() -> Wire:
    """Ask for the arena's counts and the engine's description."""
    return _written(Op.STATS, "")


def _read_stats(fields: Fields, prompt_tokens: int) -> Params:
    return Params(Op.STATS, str(fields.get("owner") or ""))


def outcome_params(owner: str, ticket: str) -> Wire:
    """Ask for the outcome of an earlier request of the owner that had this ticket."""
    return _written(Op.OUTCOME, owner, ticket=ticket)


def _read_outcome(fields: Fields, prompt_tokens: int) -> Params:
    return Params(Op.OUTCOME, _owner(fields), ticket=_ticket(fields.get("ticket")))


def with_ticket(params: Wire, ticket: str) -> Wire:
    """The same request, with its outcome to be kept under `ticket`."""
    return {KEY: _inner(params) | {"ticket": ticket}}


def signed(params: Wire, key: str) -> Wire:
    """The same request with its signature, if there is a key. Nothing may be added after."""
    inner = _inner(params)
    return {KEY: inner | {FIELD: sign(inner, key.encode())}} if key else params


def parse(raw: object, prompt_tokens: int, key: bytes = b"") -> Params:
    """Check a request and return it parsed; ValueError says what is wrong with it.

    raw: the object under `KEY`. prompt_tokens: length of the request's prompt. With a `key`
    it must be signed with it.
    """
    if not isinstance(raw, Mapping):
        raise ValueError(f"{KEY} must be an object, got {type(raw).__name__}")
    if raw.get("version", 1) != VERSION:
        raise ValueError(
            f"the request has version {raw.get('version', 1)!r} of InferScale's protocol and this "
            f"engine version {VERSION}: run one version of InferScale on both sides"
        )
    if unknown := [name for name in raw if name not in _FIELDS]:
        raise ValueError(f"unknown fields: {unknown}")
    if key and not is_signed(raw, key):
        raise ValueError("the request is not signed with this engine's key")
    read = _READERS.get(str(raw.get("op")))
    if read is None:
        raise ValueError(f"op must be one of {[str(op) for op in Op]}, got {raw.get('op')!r}")
    params = read(raw, prompt_tokens)
    ticket = raw.get("ticket")
    return params if ticket is None else replace(params, ticket=_ticket(ticket))


_READERS: dict[object, Callable[[Fields, int], Params]] = {
    Op.INJECT: _read_inject,
    Op.ENCODE: _read_encode,
    Op.PROBE: _read_probe,
    Op.DROP: _read_drop,
    Op.DEMOTE: _read_owner_only,
    Op.PREFETCH: _read_owner_only,
    Op.LIST: _read_owner_only,
    Op.SNAPSHOT: _read_fingerprint,
    Op.RESTORE: _read_fingerprint,
    Op.STATS: _read_stats,
    Op.OUTCOME: _read_outcome,
}


def _written(op: Op, owner: str, **fields: str | None) -> Wire:
    return {KEY: {"version": VERSION, "op": op.value, "owner": owner, **fields}}


def _inner(params: Wire) -> Wire:
    inner = params[KEY]
    assert isinstance(inner, dict)
    return inner


def _owner(fields: Fields) -> str:
    owner = fields.get("owner")
    if not isinstance(owner, str) or not owner:
        raise ValueError("owner must be a non-empty string")
    return owner


def _ticket(value: object) -> str:
    if not isinstance(value, str) or len(value) > _TICKET_LENGTH:
        raise ValueError(f"a ticket must be a string of at most {_TICKET_LENGTH} characters")
    return value
