"""What requests may ask of the connector, and what they are told when it is wrong."""

import pytest

from memory_engine.connector.protocol.params import Op, Span, parse
from memory_engine.engines import wire
from memory_engine.types import Prompt
from memory_engine.types import Span as PromptSpan


def test_what_the_engine_client_writes_is_what_the_connector_reads() -> None:
    prompt = Prompt("anna", list(range(9)), (PromptSpan("a", 0, 4), PromptSpan("b", 4, 3)))
    params = parse(wire.inject_params(prompt)[wire.KEY], 9)
    assert params.op is Op.INJECT
    assert params.owner == "anna"
    assert list(params.spans) == [Span("a", 0, 4), Span("b", 4, 7)]


def test_an_encode_may_leave_gaps_between_its_spans() -> None:
    spans = (PromptSpan("a", 0, 2), PromptSpan("b", 5, 2))
    assert len(parse(wire.encode_params("anna", spans)[wire.KEY], 7).spans) == 2


def test_a_drop_names_segments_or_means_all() -> None:
    assert parse(wire.drop_params("anna", ["a", "b"])[wire.KEY], 1).drop == ("a", "b")
    assert parse(wire.drop_params("anna", [])[wire.KEY], 1).drop == ()
    assert parse(wire.drop_params("anna", None)[wire.KEY], 1).drop is None


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ("inject", "must be an object"),
        ({"op": "read"}, "op must be one of"),
        ({"op": "inject", "segments": "a:0:1"}, "owner must be"),
        ({"op": "inject", "owner": "anna", "segments": ""}, "at least one"),
        ({"op": "inject", "owner": "anna", "segments": "a:0"}, "a segment must be"),
        ({"op": "inject", "owner": "anna", "segments": "a:-1:2"}, "a segment must be"),
        ({"op": "inject", "owner": "anna", "segments": "a:0:0"}, "a segment must be"),
        ({"op": "inject", "owner": "anna", "segments": "a:0:2 b:3:1"}, "without gaps"),
        ({"op": "encode", "owner": "anna", "segments": "a:2:2 b:3:1"}, "in order"),
        ({"op": "encode", "owner": "anna", "segments": "a:0:9"}, "outside the prompt"),
        ({"op": "drop", "owner": "anna", "segments": 3}, "segments of a drop"),
    ],
)
def test_a_malformed_request_is_told_what_is_wrong(raw: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse(raw, 8)
