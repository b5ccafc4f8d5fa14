"""Any interleaving of what vLLM and callers do keeps the planner's promises.

A played vLLM (`played`) executes every plan. Each page of each request has to hold the KV
of the right token at every step: its own, or that of the segment of its owner that was
promised in its place.
"""

from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.memory_engine.connector.fake_vllm import FakeRequest, FakeVllm

Parts = list[tuple[str, int, int]]
NAMES = st.sampled_from([f"s{number}" for number in range(6)])
OWNERS = st.sampled_from("ab")
# Ids in order, each with its length and the gap before it.
PART = st.tuples(NAMES, st.integers(1, 5), st.integers(0, 2))
SPANS = st.lists(PART, min_size=1, max_size=4)
FORGOTTEN = st.none() | st.lists(NAMES, min_size=1, max_size=2)
# vLLM's decisions: whom to admit, how long a chunk is, what the prefix cache has.
RANDOM = st.randoms(use_true_random=False)


def laid_out(parts: Parts, *, gaps: bool) -> list[tuple[str, int, int]]:
    """Spans (id, start, length); without `gaps` only the first is kept."""
    spans, at = [], 0
    for number, (name, length, gap) in enumerate(parts):
        at += gap if gaps or number == 0 else 0
        spans.append((name, at, length))
        at += length
    return spans


class PlannerMachine(RuleBasedStateMachine):
    """Requests arrive, wait, run in chunks, are preempted and end, with all that callers ask."""

    def __init__(self) -> None:
        super().__init__()
        self.vllm = FakeVllm()
        self.count = 0

    def arrive(self, op: str, owner: str, parts: Parts, suffix: int) -> None:
        self.count += 1
        spans = laid_out(parts, gaps=op == "encode")
        end = spans[-1][1] + spans[-1][2]
        self.vllm.arrive(FakeRequest(f"r{self.count}", op, owner, spans, max(end + suffix, 1)))

    @initialize(first=SPANS, second=SPANS)
    def both_owners_have_memories(self, first: Parts, second: Parts) -> None:
        for owner, parts in (("a", first), ("b", second)):
            self.arrive("encode", owner, parts, 1)
            while self.vllm.waiting or not self.vllm.done(self.vllm.running[0]):
                self.vllm.step(lambda low, high: high)
            self.vllm.finish(self.vllm.running[0])

    @rule(owner=OWNERS, parts=SPANS, suffix=st.integers(0, 4))
    def encode(self, owner: str, parts: Parts, suffix: int) -> None:
        self.arrive("encode", owner, parts, suffix)

    @rule(owner=OWNERS, parts=SPANS, suffix=st.integers(0, 9))
    def inject_what_may_not_be_there(self, owner: str, parts: Parts, suffix: int) -> None:
        self.arrive("inject", owner, parts, suffix)

    @rule(owner=OWNERS, suffix=st.integers(0, 9), strangers=st.booleans(), data=st.data())
    def inject(self, owner: str, suffix: int, strangers: bool, data: st.DataObject) -> None:
        """Segments as they are, in any order; with `strangers`, another owner's too."""
        known = [
            (name, segment.length, 0)
            for arena in (self.vllm.device, self.vllm.host)
            for whose in "ab"
            for name in arena.owned(whose)
            for segment in [arena.find(whose, name)]
            if segment is not None and (whose == owner or strangers)
        ]
        part = st.sampled_from(known) if known else PART
        parts = data.draw(st.lists(part, min_size=1, max_size=4))
        self.arrive("inject", owner, parts, suffix)

    @rule(random=RANDOM, count=st.integers(1, 4))
    def steps(self, random: Random, count: int) -> None:
        for _ in range(count):
            self.vllm.step(random.randint)
            self.only_what_is_being_saved_is_pinned()

    @precondition(lambda self: self.vllm.in_flight)
    @rule()
    def work(self) -> None:
        self.vllm.work()

    @precondition(lambda self: self.vllm.running)
    @rule()
    def preempt(self) -> None:
        """All that run give way, as when a higher priority arrives."""
        while self.vllm.running:
            self.vllm.preempt()

    @precondition(lambda self: self.vllm.running or self.vllm.waiting)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        """A request ends or is aborted, wherever it is."""
        alive = [*self.vllm.running, *self.vllm.waiting]
        request = data.draw(st.sampled_from(alive))
        self.check_outcome(request, self.vllm.finish(request))

    @rule(op=st.sampled_from(["drop", "demote", "prefetch"]), owner=OWNERS, names=FORGOTTEN)
    def control(self, op: str, owner: str, names: list[str] | None) -> None:
        asked = None if names is None else " ".join(names)
        self.vllm.control(op, owner, asked)
        for tier in (self.vllm.device, self.vllm.host):
            left = set(tier.owned(owner))
            assert op != "drop" or not (left if names is None else left & set(names))

    def check_outcome(self, request: FakeRequest, outcome: dict[str, Any]) -> None:
        names = [name for name, _, _ in request.spans]
        if request.op == "encode":
            dealt_with = outcome["saved"] + outcome["rejected"]
            assert sorted(dealt_with) == sorted(names[: len(dealt_with)])
            return
        assert set(outcome["missing"]) <= set(names)
        assert outcome["injected"] <= outcome["planned"]
        if request.first is not None:
            assert (outcome["cached"], outcome["injected"]) == request.first

    @invariant()
    def nothing_is_lost_or_given_twice(self) -> None:
        self.vllm.side.check_integrity()

    @invariant()
    def only_what_is_being_saved_is_pinned(self) -> None:
        pinned = self.vllm.side.stats()["pinned_segments"]
        assert pinned == sum(self.vllm.device.resident(name) for name in self.vllm.saving)
        assert self.vllm.side.stats()["host_pinned_segments"] == 0

    @invariant()
    def the_worker_is_never_far_behind(self) -> None:
        while len(self.vllm.in_flight) > 2:
            self.vllm.work()

    def teardown(self) -> None:
        while alive := [*self.vllm.running, *self.vllm.waiting]:
            self.vllm.finish(alive[0])
        self.vllm.step(lambda low, high: low)
        while self.vllm.in_flight:
            self.vllm.work()
        for owner in "ab":
            self.vllm.control("drop", owner)
        stats = self.vllm.side.stats()
        assert stats["pinned_segments"] == stats["tokens_used"] == stats["host_tokens_used"] == 0
        self.vllm.side.check_integrity()


TestPlannerMachine = PlannerMachine.TestCase
TestPlannerMachine.settings = settings(max_examples=250, stateful_step_count=40, deadline=None)
