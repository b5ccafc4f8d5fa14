"""The figures of a simulation, made of a few messages whose fate is known."""

from benchmarks.capacity.simulation.lru_tiers import SimulatedTier
from benchmarks.capacity.simulation.message_log import MessageLog
from benchmarks.capacity.simulation.scenario import Scenario

# 16 minutes; it counts from the second, and the engine is lost at the eighth.
SCENARIO = Scenario(hours=16 / 60)


def a_journal() -> MessageLog:
    """Two users with a message a minute each; the second one's engine is lost."""
    log = MessageLog()
    log.moved = {2}
    for minute in range(16):
        cold = minute in (8, 9)
        log.add(1, minute * 60 + 1, 0.0, 0.010, SimulatedTier.DEVICE)
        tier = SimulatedTier.NONE if cold else SimulatedTier.HOST
        log.add(2, minute * 60 + 2, 0.1 if cold else 0.0, 0.2 if cold else 0.02, tier)
    return log


def test_spans_are_told_apart_by_when_a_message_was_asked() -> None:
    spans = a_journal().report(SCENARIO)["spans"]
    assert {name: span["messages"] for name, span in spans.items()} == {
        "before": 12,
        "during": 10,
        "after": 6,
    }
    assert spans["before"]["found"] == {"device": 0.5, "host": 0.5, "disk": 0.0, "none": 0.0}
    assert spans["during"]["found"] == {"device": 0.5, "host": 0.3, "disk": 0.0, "none": 0.2}
    assert spans["before"]["ttft_ms"]["mean"] == 15
    assert spans["during"]["wait_ms"]["mean"] == 20


def test_users_of_the_lost_engine_are_followed_until_it_is_as_before() -> None:
    assert a_journal().report(SCENARIO)["moved"] == {
        "users": 1,
        "before": 1.0,
        "lowest": 0.0,
        "back_after_s": 120.0,
    }


def test_without_a_loss_there_is_one_span_and_nobody_moved() -> None:
    report = a_journal().report(Scenario(hours=16 / 60, lose=False))
    assert list(report["spans"]) == ["all"]
    assert report["moved"] is None
    assert len(report["minutes"]) == 16


def test_what_never_comes_back_is_said_so() -> None:
    log = MessageLog()
    log.moved = {2}
    for minute in range(16):
        log.add(2, minute * 60, 0.0, 0.02, SimulatedTier.HOST if minute < 8 else SimulatedTier.NONE)
    assert log.report(SCENARIO)["moved"]["back_after_s"] is None


def test_a_simulation_without_messages_has_no_figures() -> None:
    report = MessageLog().report(SCENARIO)
    assert report["messages"] == 0
    assert report["minutes"] == []
    assert report["moved"]["before"] is None
