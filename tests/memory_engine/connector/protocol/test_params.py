"""Requests as callers write them and the connector reads them, and refusals of wrong ones."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_engine.connector.protocol.params import (
    KEY,
    VERSION,
    Op,
    Params,
    Wire,
    demote_params,
    drop_params,
    encode_params,
    inject_params,
    list_params,
    outcome_params,
    parse,
    prefetch_params,
    probe_params,
    restore_params,
    signed,
    snapshot_params,
    stats_params,
    with_ticket,
)
from memory_engine.connector.protocol.spans import Span, Spans
from tests.memory_engine.connector.request_builder import raw_request

SIGNING_KEY = "the engine's key"
TOKENS = 1000
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
IDS = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "Cc"), exclude_characters=": "))
IDS = IDS.filter(bool).filter(lambda text: not any(c.isspace() for c in text))
TICKETS = st.text(st.characters(codec="utf-8"), max_size=64)


@st.composite
def laid_out(draw: st.DrawFn, *, gaps: bool) -> list[Span]:
    """Spans in order, with gaps between them or without."""
    spans, at = [], 0
    for segment_id in draw(st.lists(IDS, min_size=1, max_size=5)):
        at += draw(st.integers(0, 9)) if gaps else 0
        end = at + draw(st.integers(1, 40))
        spans.append(Span(segment_id, at, end))
        at = end
    return spans


def columns(spans: list[Span]) -> Spans:
    return Spans([s.segment_id for s in spans], [s.length for s in spans], [s.end for s in spans])


@st.composite
def requests(draw: st.DrawFn) -> tuple[Wire, Params]:
    """A request as its writer makes it, and as it has to be read."""
    op, owner = draw(st.sampled_from(Op)), draw(NAMES)
    written, read = _operation(draw, op, owner)
    if op is not Op.OUTCOME and draw(st.booleans()):
        ticket = draw(TICKETS)
        return with_ticket(written, ticket), _with(read, ticket)
    return written, read


def _operation(draw: st.DrawFn, op: Op, owner: str) -> tuple[Wire, Params]:
    match op:
        case Op.INJECT | Op.PROBE:
            spans = draw(laid_out(gaps=False))
            writer = inject_params if op is Op.INJECT else probe_params
            return writer(owner, spans), Params(op, owner, columns(spans))
        case Op.ENCODE:
            spans = draw(laid_out(gaps=True))
            return encode_params(owner, spans), Params(op, owner, columns(spans))
        case Op.DROP:
            ids = draw(st.none() | st.lists(IDS, max_size=4).map(tuple))
            return drop_params(owner, ids), Params(op, owner, drop=ids)
        case Op.SNAPSHOT | Op.RESTORE:
            fingerprint = draw(NAMES)
            fingerprinted = snapshot_params if op is Op.SNAPSHOT else restore_params
            return fingerprinted(owner, fingerprint), Params(op, owner, fingerprint=fingerprint)
        case Op.OUTCOME:
            ticket = draw(TICKETS)
            return outcome_params(owner, ticket), Params(op, owner, ticket=ticket)
        case Op.STATS:
            return stats_params(), Params(op)
    plain = {Op.DEMOTE: demote_params, Op.PREFETCH: prefetch_params, Op.LIST: list_params}
    return plain[op](owner), Params(op, owner)


def _with(params: Params, ticket: str) -> Params:
    return Params(params.op, params.owner, params.spans, params.drop, params.fingerprint, ticket)


def sent(params: Wire) -> dict[str, Any]:
    """The fields after JSON, as over HTTP."""
    fields: dict[str, Any] = json.loads(json.dumps(params))[KEY]
    return fields


@given(requests())
def test_what_a_caller_writes_is_what_the_connector_reads(request: tuple[Wire, Params]) -> None:
    written, read = request
    for key in ("", SIGNING_KEY):
        assert parse(sent(signed(written, key)), TOKENS, key.encode()) == read


@given(requests(), st.data())
def test_any_changed_byte_of_any_field_is_refused(
    request: tuple[Wire, Params], data: st.DataObject
) -> None:
    fields = sent(signed(request[0], SIGNING_KEY))
    name = data.draw(st.sampled_from(sorted(fields)))
    old = fields[name]
    if isinstance(old, str) and old:
        place = data.draw(st.integers(0, len(old) - 1))
        letter = data.draw(st.characters(codec="utf-8"))
        assume(letter != old[place])
        fields[name] = old[:place] + letter + old[place + 1 :]
    else:
        fields[name] = data.draw(st.none() | st.text(max_size=3) | st.integers())
        assume(fields[name] != old)
    with pytest.raises(ValueError, match=r"not signed|version"):
        parse(fields, TOKENS, SIGNING_KEY.encode())


@given(requests(), st.sampled_from(["segments", "fingerprint", "ticket", "more"]))
def test_a_field_added_or_taken_away_after_signing_is_refused(
    request: tuple[Wire, Params], name: str
) -> None:
    fields = sent(signed(request[0], SIGNING_KEY))
    changed = {n: v for n, v in fields.items() if n != name}
    if changed == fields:
        changed[name] = "x"
    with pytest.raises(ValueError, match=r"not signed|unknown fields: \['more'\]"):
        parse(changed, TOKENS, SIGNING_KEY.encode())


def test_a_probe_needs_no_segments_and_no_owner() -> None:
    assert parse(probe_params()[KEY], 9) == Params(Op.PROBE)


@pytest.mark.parametrize("version", [None, 1, VERSION + 1])
def test_a_request_of_another_version_is_refused_by_that_name(version: int | None) -> None:
    fields = raw_request("stats", "") | {"version": version}
    if version == 1:
        # Version 1 carried no version; its signature would not match either.
        fields = {"op": "stats", "signature": "0" * 64}
    with pytest.raises(ValueError, match=f"{version!r} of InferScale's protocol .* {VERSION}"):
        parse(fields, 8, SIGNING_KEY.encode())


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ("inject", "must be an object"),
        (raw_request("read", "anna"), "op must be one of"),
        (raw_request(["inject"], "anna"), "op must be one of"),
        (raw_request("inject", None, segments="a:0:1"), "owner must be"),
        (raw_request("inject", "anna"), "at least one"),
        (raw_request("inject", "anna", segments=""), "at least one"),
        (raw_request("inject", "anna", segments="a:0"), "a segment must be"),
        (raw_request("inject", "anna", segments="a:-1:2"), "a segment must be"),
        (raw_request("inject", "anna", segments="a:0:0"), "a segment must be"),
        (raw_request("inject", "anna", segments="a:0:2 b:3:4"), "without gaps"),
        (raw_request("encode", "anna", segments="a:2:4 b:3:4"), "in order"),
        (raw_request("encode", "anna", segments="a:0:9"), "outside the prompt"),
        (raw_request("drop", "anna", segments=3), "segments of a drop"),
        (raw_request("drop", "anna"), "segments of a drop"),
        (raw_request("snapshot", "anna", segments="f"), "fingerprint must be"),
        (raw_request("outcome", "anna", segments="t"), "a ticket must be"),
        (raw_request("list", "anna", colour="red"), "unknown fields"),
    ],
)
def test_a_malformed_request_is_told_what_is_wrong(raw: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse(raw, 8)
