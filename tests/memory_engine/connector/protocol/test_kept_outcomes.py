"""Accounts of streamed requests are found once, under their ticket, by their owner."""

import pytest

from memory_engine.connector.protocol import kept_outcomes as kept_accounts
from memory_engine.connector.protocol.kept_outcomes import KeptOutcomes
from memory_engine.connector.protocol.params import KEY, parse
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers
from memory_engine.engines import wire
from memory_engine.types import Prompt, Span

SIGNED = b"key"
PROMPT = Prompt("anna", list(range(9)), (Span("a", 0, 4),))


def side() -> SchedulerSide:
    description = {"start": "first", "model": "m"}
    return SchedulerSide(Tiers(Arena(40)), 4, key=SIGNED, description=description)


def asked(side: SchedulerSide, params: dict[str, object], request: str = "r") -> dict[str, object]:
    side.arrived(request, wire.signed(params, SIGNED.decode())[KEY], 9)
    found = side.finished(request)
    assert found is not None
    account: dict[str, object] = found[KEY]
    return account


def test_a_streams_account_is_told_once_to_its_owner() -> None:
    engine = side()
    told = asked(engine, wire.with_ticket(wire.inject_params(PROMPT), "t1"))
    assert told["op"] == "inject"
    for owner, ticket in (("ben", "t1"), ("anna", "t2")):
        assert "no account" in str(asked(engine, wire.account_params(owner, ticket))["error"])
    assert asked(engine, wire.account_params("anna", "t1")) == told
    assert "no account" in str(asked(engine, wire.account_params("anna", "t1"))["error"])


def test_nobody_is_told_without_the_key() -> None:
    engine = side()
    asked(engine, wire.with_ticket(wire.inject_params(PROMPT), "t1"))
    engine.arrived("r", wire.account_params("anna", "t1")[KEY], 9)
    found = engine.finished("r")
    assert found is not None
    assert "not signed" in found[KEY]["error"]


def test_each_account_names_the_start_and_the_counts_describe_the_engine() -> None:
    engine = side()
    assert asked(engine, wire.list_params("anna"))["start"] == "first"
    assert asked(engine, wire.stats_params())["engine"] == {"start": "first", "model": "m"}


def test_accounts_that_nobody_asks_for_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_accounts, "_MOST", 2)
    kept = KeptOutcomes()
    for number in range(3):
        kept.keep("anna", f"t{number}", {"n": number})
    assert kept.take("anna", "t0") is None
    assert kept.take("anna", "t2") == {"n": 2}


def test_a_ticket_is_a_short_string() -> None:
    for ticket in (3, "x" * 65):
        raw = wire.inject_params(PROMPT)[KEY]
        assert isinstance(raw, dict)
        with pytest.raises(ValueError, match="ticket"):
            parse(raw | {"ticket": ticket}, 9)
