"""Accounts of streamed requests are found once, under their ticket, by their owner."""

import pytest

from memory_engine.connector.protocol import kept_outcomes
from memory_engine.connector.protocol.kept_outcomes import KeptOutcomes
from memory_engine.connector.protocol.params import (
    KEY,
    inject_params,
    list_params,
    outcome_params,
    parse,
    signed,
    stats_params,
    with_ticket,
)
from memory_engine.connector.protocol.spans import Span
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers

SIGNED = b"key"
INJECT = inject_params("anna", [Span("a", 0, 4)])


def side() -> SchedulerSide:
    description = {"start": "first", "model": "m"}
    return SchedulerSide(Tiers(Arena(40)), 4, key=SIGNED, description=description)


def asked(side: SchedulerSide, params: dict[str, object], request: str = "r") -> dict[str, object]:
    side.arrived(request, signed(params, SIGNED.decode())[KEY], 9)
    found = side.finished(request)
    assert found is not None
    outcome: dict[str, object] = found[KEY]
    return outcome


def test_a_streams_outcome_is_told_once_to_its_owner() -> None:
    engine = side()
    told = asked(engine, with_ticket(INJECT, "t1"))
    assert told["op"] == "inject"
    for owner, ticket in (("ben", "t1"), ("anna", "t2")):
        assert "no outcome" in str(asked(engine, outcome_params(owner, ticket))["error"])
    assert asked(engine, outcome_params("anna", "t1")) == told
    assert "no outcome" in str(asked(engine, outcome_params("anna", "t1"))["error"])


def test_nobody_is_told_without_the_key() -> None:
    engine = side()
    asked(engine, with_ticket(INJECT, "t1"))
    engine.arrived("r", outcome_params("anna", "t1")[KEY], 9)
    found = engine.finished("r")
    assert found is not None
    assert "not signed" in found[KEY]["error"]


def test_each_outcome_names_the_start_and_the_counts_describe_the_engine() -> None:
    engine = side()
    assert asked(engine, list_params("anna"))["start"] == "first"
    assert asked(engine, stats_params())["engine"] == {"start": "first", "model": "m"}


def test_outcomes_that_nobody_asks_for_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_outcomes, "_MOST", 2)
    kept = KeptOutcomes()
    for number in range(3):
        kept.keep("anna", f"t{number}", {"n": number})
    assert kept.take("anna", "t0") is None
    assert kept.take("anna", "t2") == {"n": 2}


def test_a_ticket_is_a_short_string() -> None:
    for ticket in (3, "x" * 65):
        raw = INJECT[KEY]
        assert isinstance(raw, dict)
        with pytest.raises(ValueError, match="ticket"):
            parse(raw | {"ticket": ticket}, 9)
