"""The scheduler side's plans, without an engine: blocks of 4 tokens, ids as integers."""

import pytest

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import WorkerReport
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers
from tests.memory_engine.connector.request_builder import raw_request
from tests.memory_engine.connector.scheduler_builder import PROMPT, encode, inject, opened, outcome


def test_a_request_without_parameters_has_no_outcome() -> None:
    assert opened().finished("unknown") is None


def test_resident_segments_are_loaded_to_the_requests_own_pages() -> None:
    side = opened()
    encode(side, "a:2:5 b:5:9")
    inject(side, "b:0:4 a:4:7")
    assert side.lookup("r", PROMPT, 0) == 7
    side.admitted("r", 7)
    load = side.step_orders({"r": (7, 13, [9, 4, 2, 1, 0])}).load
    assert load is not None
    assert load.positions.tolist() == list(range(7))
    assert load.pages.tolist() == [36, 37, 38, 39, 16, 17, 18]
    assert outcome(side, "r")["injected"] == 7
    side.check_integrity()


def test_the_tokens_loaded_are_those_that_were_saved() -> None:
    side = opened()
    side.arrived("e", raw_request("encode", "anna", segments="a:2:5 b:5:9"), PROMPT)
    save = side.step_orders({"e": (0, PROMPT, list(range(5)))}).save
    assert save is not None
    assert save.pages.tolist() == [2, 3, 4, 5, 6, 7, 8]
    inject(side, "b:0:4 a:4:7")
    side.admitted("r", side.lookup("r", PROMPT, 0))
    load = side.step_orders({"r": (7, 13, list(range(5)))}).load
    assert load is not None
    assert load.arena.tolist() == [*save.arena[3:].tolist(), *save.arena[:3].tolist()]


@pytest.mark.parametrize("local", range(8))
def test_a_local_hit_of_any_length_leaves_the_rest_to_the_arena(local: int) -> None:
    side = opened()
    encode(side, "a:0:3 b:3:7")
    inject(side, "a:0:3 b:3:7")
    external = side.lookup("r", PROMPT, local)
    assert external == max(0, 7 - local)
    side.admitted("r", external)
    load = side.step_orders({"r": (7, 13, list(range(5)))}).load
    assert (load.positions.tolist() if load else []) == list(range(local, 7))


def test_one_token_stays_for_the_forward_pass() -> None:
    side = opened()
    encode(side, "a:0:20")
    inject(side, "a:0:20")
    assert side.lookup("r", PROMPT, 0) == 19
    assert side.lookup("r", PROMPT, 19) == 0


def test_injection_ends_at_the_first_missing_segment_and_the_outcome_names_it() -> None:
    side = opened()
    encode(side, "a:0:3 c:3:5")
    inject(side, "a:0:3 b:3:7 c:7:9")
    side.admitted("r", side.lookup("r", PROMPT, 0))
    side.step_orders({"r": (3, 17, list(range(5)))})
    found = outcome(side, "r")
    assert found["injected"] == 3
    assert found["missing"] == ["b"]


def test_segments_that_do_not_reach_back_to_the_local_hit_are_not_injected() -> None:
    side = opened()
    encode(side, "a:4:7")
    inject(side, "a:4:7")
    assert side.lookup("r", PROMPT, 0) == 0
    assert side.lookup("r", PROMPT, 4) == 3


def test_another_owner_never_gets_a_segment() -> None:
    side = opened()
    encode(side, "a:0:3", owner="anna")
    inject(side, "a:0:3", owner="ben")
    assert side.lookup("r", PROMPT, 0) == 0
    assert outcome(side, "r")["missing"] == ["a"]


def test_another_owner_cannot_replace_a_segment() -> None:
    side = opened()
    encode(side, "a:0:3", owner="anna")
    side.arrived("e", raw_request("encode", "ben", segments="a:0:3"), PROMPT)
    assert side.step_orders({"e": (0, PROMPT, list(range(5)))}).save is None
    assert outcome(side, "e")["rejected"] == ["a"]


def test_looking_up_twice_promises_the_same_and_leaks_no_pin() -> None:
    side = opened()
    encode(side, "a:0:3")
    inject(side, "a:0:3")
    assert [side.lookup("r", PROMPT, 0) for _ in range(3)] == [3, 3, 3]
    side.step_orders({})
    side.check_integrity()
    assert side.stats()["pinned_segments"] == 0


def test_a_promised_segment_is_not_evicted_by_an_encode_of_the_same_step() -> None:
    side = opened(capacity=6)
    encode(side, "a:0:6")
    inject(side, "a:0:6")
    side.arrived("e", raw_request("encode", "anna", segments="b:0:6"), PROMPT)
    side.admitted("r", side.lookup("r", PROMPT, 0))
    plan = side.step_orders({"r": (6, 14, list(range(5))), "e": (0, PROMPT, list(range(5)))})
    assert plan.load is not None
    assert plan.load.positions.size == 6
    side.check_integrity()


def test_a_segment_evicted_while_the_request_waits_is_prefilled() -> None:
    side = opened(capacity=6)
    encode(side, "a:0:6")
    inject(side, "a:0:6")
    assert side.lookup("r", PROMPT, 0) == 6
    side.step_orders({})
    encode(side, "b:0:6")
    assert side.lookup("r", PROMPT, 0) == 0
    assert outcome(side, "r")["missing"] == ["a"]


def test_an_encode_in_chunks_saves_each_span_when_it_is_whole() -> None:
    side = opened()
    side.arrived("e", raw_request("encode", "anna", segments="a:2:5 b:5:9"), PROMPT)
    assert side.step_orders({"e": (0, 4, [0])}).save is None
    second = side.step_orders({"e": (4, 3, [0, 1])}).save
    assert second is not None
    assert second.positions.tolist() == [2, 3, 4]
    third = side.step_orders({"e": (7, 5, [0, 1, 2])}).save
    assert third is not None
    assert third.positions.tolist() == [5, 6, 7, 8]
    assert outcome(side, "e")["saved"] == ["a", "b"]


def test_a_preempted_encode_saves_nothing_twice() -> None:
    side = opened()
    side.arrived("e", raw_request("encode", "anna", segments="a:0:3 b:5:9"), PROMPT)
    side.step_orders({"e": (0, 4, [0])})
    side.step_orders({})
    resumed = side.step_orders({"e": (0, 12, [7, 8, 9])}).save
    assert resumed is not None
    assert resumed.positions.tolist() == [5, 6, 7, 8]


def test_a_preempted_injection_is_planned_anew_at_its_new_pages() -> None:
    side = opened()
    encode(side, "a:0:3")
    inject(side, "a:0:3")
    for blocks in ([0, 1], [6, 7]):
        side.admitted("r", side.lookup("r", PROMPT, 0))
        load = side.step_orders({"r": (3, 5, blocks)}).load
        assert load is not None
        assert load.pages.tolist() == [blocks[0] * 4 + i for i in range(3)]


def test_a_request_that_ends_before_it_was_admitted_leaves_no_pin() -> None:
    side = opened()
    encode(side, "a:0:3")
    inject(side, "a:0:3")
    side.lookup("r", PROMPT, 0)
    side.finished("r")
    side.check_integrity()
    assert side.stats()["pinned_segments"] == 0


def test_a_span_of_another_length_than_its_segment_counts_as_missing() -> None:
    side = opened()
    encode(side, "a:0:3 b:3:7")
    inject(side, "a:0:2 b:2:6", request="short")
    inject(side, "a:0:5 b:5:9", request="long")
    for request in ("short", "long"):
        assert side.lookup(request, PROMPT, 0) == 0
        assert outcome(side, request)["missing"] == ["a"]


def test_an_encode_of_another_length_replaces_nothing() -> None:
    side = opened()
    encode(side, "a:0:3")
    side.arrived("e", raw_request("encode", "anna", segments="a:0:5"), PROMPT)
    assert side.step_orders({"e": (0, PROMPT, list(range(5)))}).save is None
    assert outcome(side, "e")["rejected"] == ["a"]


def test_the_outcome_tells_of_the_first_admission_whatever_a_preempted_request_finds() -> None:
    side = opened()
    encode(side, "a:0:3 b:3:7")
    inject(side, "a:0:3 b:3:7")
    side.admitted("r", side.lookup("r", PROMPT, 0))
    side.step_orders({"r": (7, 13, list(range(5)))})
    side.arrived("d", raw_request("drop", "anna", segments="b"), 1)
    assert side.lookup("r", PROMPT + 3, 4) == 0
    side.admitted("r", 0)
    found = outcome(side, "r")
    assert (found["injected"], found["cached"], found["missing"]) == (7, 0, [])


def test_a_dropped_segment_is_not_injected() -> None:
    side = opened()
    encode(side, "a:0:3 b:3:5")
    side.arrived("d", raw_request("drop", "anna", segments="a"), 1)
    assert outcome(side, "d")["count"] == 1
    inject(side, "a:0:3")
    assert side.lookup("r", PROMPT, 0) == 0
    side.check_integrity()


def test_nothing_is_injected_or_encoded_before_a_probe_has_passed() -> None:
    side = SchedulerSide(Tiers(Arena(40)), block_size=4)
    side.arrived("e", raw_request("encode", "anna", segments="a:0:3"), PROMPT)
    assert side.step_orders({"e": (0, PROMPT, list(range(5)))}).save is None
    assert "probe" in str(outcome(side, "e")["error"])


def test_a_refusal_by_any_probe_closes_the_arena_for_good() -> None:
    side = opened()
    side.report(WorkerReport({"p": Verdict("keys depend on the position")}))
    side.report(WorkerReport({"q": Verdict()}))
    inject(side, "a:0:3")
    assert side.lookup("r", PROMPT, 0) == 0
    assert outcome(side, "r")["error"] == "keys depend on the position"


def test_a_malformed_request_runs_as_text_and_is_told_why() -> None:
    side = opened()
    side.arrived("r", raw_request("inject", "anna", segments="a:0:0"), PROMPT)
    assert side.lookup("r", PROMPT, 0) == 0
    assert not side.needs_step("r")
    assert "a segment must be" in str(outcome(side, "r")["error"])


def test_several_requests_of_a_step_are_one_transfer() -> None:
    side = opened()
    encode(side, "a:0:3 b:3:7")
    inject(side, "a:0:3", request="r1")
    inject(side, "b:0:4", request="r2")
    for request in ("r1", "r2"):
        side.admitted(request, side.lookup(request, PROMPT, 0))
    load = side.step_orders({"r1": (3, 9, [0, 1]), "r2": (4, 9, [5, 6])}).load
    assert load is not None
    assert load.positions.tolist() == [0, 1, 2, 0, 1, 2, 3]
    assert load.pages.tolist() == [0, 1, 2, 20, 21, 22, 23]


def test_the_segments_of_an_owner_are_listed_and_nobody_elses() -> None:
    side = opened()
    encode(side, "a:2:5 b:5:9")
    encode(side, "c:0:2", owner="ben")
    side.arrived("list", raw_request("list", "anna"), 1)
    assert outcome(side, "list")["resident"] == ["a", "b"]
    side.arrived("drop", raw_request("drop", "anna", segments="a"), 1)
    side.finished("drop")
    side.arrived("list", raw_request("list", "anna"), 1)
    assert outcome(side, "list")["resident"] == ["b"]
