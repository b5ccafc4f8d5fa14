"""What a request asks of the connector: `kv_transfer_params["inferscale"]`, parsed.

    {"op": "inject", "owner": "u1", "segments": "<id>:<start>:<length> ..."}
    {"op": "encode", "owner": "u1", "segments": "<id>:<start>:<length> ..."}
    {"op": "drop",   "owner": "u1", "segments": "<id> ..." or null for all}
    {"op": "probe",  "owner": "u1", "segments": as for inject, or null}
    {"op": "demote", "prefetch" or "list", "owner": "u1"}
    {"op": "snapshot" or "restore", "owner": "u1", "segments": "<the model's fingerprint>"}
    {"op": "stats"}
    {"op": "account", "owner": "u1", "segments": "<ticket>"}

`start` and `length` are token positions in the request's own prompt. Segments are one
string: hundreds of lists would be copied, sent and read one by one before the first token.
A request that is streamed may have a "ticket", under which `account` then finds its account.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from operator import add
from typing import NamedTuple, overload

from memory_engine.connector.protocol.signature import is_signed

KEY = "inferscale"
_TICKET_LENGTH = 64


class Op(StrEnum):
    """What to do with a request."""

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
    ACCOUNT = "account"


class Span(NamedTuple):
    """Tokens `start` to `end` of the prompt are the segment `segment_id`."""

    segment_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spans(Sequence[Span]):
    """Spans in the order of the prompt, kept as columns.

    A request has hundreds, and what is done with them before the first token is done with a
    column at a time.
    """

    ids: Sequence[str] = ()
    lengths: Sequence[int] = ()
    ends: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> "Spans": ...
    def __getitem__(self, index: int | slice) -> "Span | Spans":
        if isinstance(index, slice):
            return Spans(self.ids[index], self.lengths[index], self.ends[index])
        end = self.ends[index]
        return Span(self.ids[index], end - self.lengths[index], end)


@dataclass(frozen=True, slots=True)
class Params:
    """A parsed request. `drop` is the ids to drop, None for all of the owner's.

    `fingerprint` is the model's, for a snapshot. `ticket` names the account of a request.
    """

    op: Op
    owner: str = ""
    spans: Spans = Spans()
    drop: tuple[str, ...] | None = None
    fingerprint: str = ""
    ticket: str = ""


def parse(raw: object, prompt_tokens: int, key: bytes = b"") -> Params:
    """Check `raw` and return it parsed; ValueError says what is wrong with it.

    With a `key` it must be signed: see `signature`.
    """
    if not isinstance(raw, Mapping):
        raise ValueError(f"{KEY} must be an object, got {type(raw).__name__}")
    if key and not is_signed(raw, key):
        raise ValueError("the request is not signed with this engine's key")
    params = _asked(raw, prompt_tokens)
    ticket = raw.get("ticket")
    return params if ticket is None else replace(params, ticket=_ticket(ticket))


def _asked(raw: Mapping[object, object], prompt_tokens: int) -> Params:
    try:
        op = Op(str(raw.get("op")))
    except ValueError:
        raise ValueError(
            f"op must be one of {[str(o) for o in Op]}, got {raw.get('op')!r}"
        ) from None
    owner = raw.get("owner")
    if op is Op.STATS or (op is Op.PROBE and raw.get("segments") is None):
        return Params(op, str(owner or ""))
    if not isinstance(owner, str) or not owner:
        raise ValueError("owner must be a non-empty string")
    segments = raw.get("segments")
    if op is Op.ACCOUNT:
        return Params(op, owner, ticket=_ticket(segments))
    if op is Op.DROP:
        return Params(op, owner, drop=_ids(segments))
    if op in (Op.DEMOTE, Op.PREFETCH, Op.LIST):
        return Params(op, owner)
    if op in (Op.SNAPSHOT, Op.RESTORE):
        if not isinstance(segments, str) or not segments:
            raise ValueError("segments of a snapshot must be the model's fingerprint")
        return Params(op, owner, fingerprint=segments)
    return Params(op, owner, _spans(segments, prompt_tokens, contiguous=op is not Op.ENCODE))


def _ticket(value: object) -> str:
    if not isinstance(value, str) or len(value) > _TICKET_LENGTH:
        raise ValueError(f"a ticket must be a string of at most {_TICKET_LENGTH} characters")
    return value


def _ids(segments: object) -> tuple[str, ...] | None:
    if segments is None:
        return None
    if not isinstance(segments, str):
        raise ValueError("segments of a drop must be ids in one string, or null for all")
    return tuple(segments.split())


def _spans(segments: object, prompt_tokens: int, *, contiguous: bool) -> Spans:
    if not isinstance(segments, str) or not segments.strip():
        raise ValueError("segments must be a string of <id>:<start>:<length>, at least one")
    # This is on the way to the first token, so all entries are taken apart at once.
    parts = segments.replace(" ", ":").split(":")
    ids, starts, lengths = parts[::3], parts[1::3], parts[2::3]
    digits = "".join(starts) + "".join(lengths)
    if len(parts) % 3 or not all(ids) or not (digits.isascii() and digits.isdecimal()):
        raise ValueError(f"a segment must be <id>:<start>:<length > 0>, got {_wrong(segments)!r}")
    if not (all(starts) and all(lengths)) or min(sizes := list(map(int, lengths))) < 1:
        raise ValueError(f"a segment must be <id>:<start>:<length > 0>, got {_wrong(segments)!r}")
    begins = list(map(int, starts))
    ends = list(map(add, begins, sizes))
    spans = Spans(ids, sizes, ends)
    if begins[1:] != ends[:-1]:
        for before, span in pairwise(spans):
            if span.start < before.end or (contiguous and span.start != before.end):
                raise ValueError(f"segments must be in order{' without gaps' * contiguous}: {span}")
    if ends[-1] > prompt_tokens:
        raise ValueError(
            f"segments end at {ends[-1]}, outside the prompt of {prompt_tokens} tokens"
        )
    return spans


def _wrong(segments: str) -> str:
    """The first entry that is not as it must be, for the message."""
    for entry in segments.split():
        match entry.split(":"):
            case [segment_id, start, length] if segment_id and start.isdecimal():
                if length.isdecimal() and int(length) > 0:
                    continue
        return entry
    return segments
