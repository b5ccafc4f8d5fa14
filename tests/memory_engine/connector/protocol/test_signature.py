"""Requests not signed with the engine's key are refused, whatever was changed in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import WorkerReport
from memory_engine.connector.protocol.params import KEY as NAME
from memory_engine.connector.protocol.params import parse
from memory_engine.connector.protocol.signature import FIELD, is_signed, sign
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers
from tests.memory_engine.connector.request_builder import raw_request

KEY = b"the engine's key"
ASKED = raw_request("inject", "anna", segments="a:0:3 b:3:7")


def signed(params: dict[str, object], key: bytes = KEY) -> dict[str, object]:
    return params | {FIELD: sign(params, key)}


def test_a_signed_request_is_read() -> None:
    assert parse(signed(dict(ASKED)), 20, KEY).owner == "anna"


@pytest.mark.parametrize(
    "changed",
    [
        {"owner": "ben"},
        {"op": "drop"},
        {"segments": "a:0:3"},
        {"segments": None},
        {FIELD: ""},
        {FIELD: None},
        {FIELD: "é"},
        {FIELD: 7},
    ],
)
def test_a_request_changed_after_signing_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not signed"):
        parse(signed(dict(ASKED)) | changed, 20, KEY)


def test_another_key_or_none_is_refused() -> None:
    for raw in (signed(dict(ASKED), b"guessed"), dict(ASKED)):
        with pytest.raises(ValueError, match="not signed"):
            parse(raw, 20, KEY)


def test_without_a_key_nothing_needs_a_signature() -> None:
    assert parse(dict(ASKED), 20).owner == "anna"


@given(st.tuples(*[st.none() | st.text(max_size=6)] * 3), st.tuples(*[st.none() | st.text()] * 3))
def test_no_two_requests_share_a_signature(
    one: tuple[str | None, ...], two: tuple[str | None, ...]
) -> None:
    first, second = (dict(zip(("op", "owner", "segments"), r, strict=True)) for r in (one, two))
    assert (sign(first, KEY) == sign(second, KEY)) == (one == two)
    assert is_signed(signed(dict(first)), KEY)


def test_who_cannot_sign_gets_no_memory_and_drops_none() -> None:
    side = SchedulerSide(Tiers(Arena(40)), block_size=4, key=KEY)
    side.report(WorkerReport({"probe": Verdict()}))
    encode: dict[str, object] = raw_request("encode", "anna", segments="a:0:3")
    side.arrived("e", signed(encode), 20)
    side.step_orders({"e": (0, 20, list(range(5)))})
    side.finished("e")
    side.arrived("drop", raw_request("drop", "anna", segments=None), 1)
    side.arrived("read", raw_request("inject", "anna", segments="a:0:3"), 20)
    assert side.lookup("read", 20, 0) == 0
    for request in ("drop", "read"):
        outcome = side.finished(request)
        assert outcome is not None
        assert "not signed" in str(outcome[NAME]["error"])
    assert side.stats()["segments"] == 1
