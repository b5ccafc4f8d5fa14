"""Slots of the arena: given once, evicted in order, kept while promised."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory_engine.connector.segments.arena import Arena


def test_a_segment_gets_as_many_slots_as_tokens() -> None:
    arena = Arena(10)
    segment = arena.allocate("anna", "a", 4)
    assert segment is not None
    assert len(set(segment.slots.tolist())) == 4
    assert arena.stats()["tokens_used"] == 4


def test_the_least_recently_used_segment_is_evicted_first() -> None:
    arena = Arena(6)
    for name in ("a", "b", "c"):
        arena.allocate("anna", name, 2)
    arena.touch("a")
    arena.allocate("anna", "d", 2)
    assert arena.find("anna", "b") is None
    assert arena.find("anna", "a") is not None


def test_a_pinned_segment_is_not_evicted() -> None:
    arena = Arena(4)
    arena.allocate("anna", "a", 2)
    arena.allocate("anna", "b", 2)
    arena.pin("a")
    arena.allocate("anna", "c", 2)
    assert arena.find("anna", "a") is not None
    assert arena.find("anna", "b") is None


def test_what_does_not_fit_evicts_nothing() -> None:
    arena = Arena(4)
    arena.allocate("anna", "a", 2)
    arena.allocate("anna", "b", 2)
    arena.pin("a")
    assert arena.allocate("anna", "c", 3) is None
    assert arena.find("anna", "b") is not None


def test_another_owner_sees_and_drops_nothing() -> None:
    arena = Arena(4)
    arena.allocate("anna", "a", 2)
    assert arena.find("ben", "a") is None
    assert len(arena.drop("ben")) == 0
    assert len(arena.drop("ben", ["a"])) == 0
    assert arena.find("anna", "a") is not None


def test_a_segment_dropped_while_pinned_is_gone_at_once_and_freed_with_its_last_pin() -> None:
    arena = Arena(4)
    arena.allocate("anna", "a", 2)
    arena.pin("a")
    assert len(arena.drop("anna", ["a"])) == 1
    assert arena.find("anna", "a") is None
    assert arena.slots("a").size == 2
    arena.unpin("a")
    assert not arena.resident("a")
    assert arena.stats()["tokens_used"] == 0


def test_a_drop_that_names_a_segment_twice_counts_it_once() -> None:
    arena = Arena(4)
    arena.allocate("anna", "a", 2)
    assert len(arena.drop("anna", ["a", "a"])) == 1
    arena.check_integrity()


def test_an_owner_at_the_limit_makes_room_among_their_own() -> None:
    arena = Arena(10, owner_limit=4)
    arena.allocate("ben", "older", 4)
    for name in ("a", "b"):
        arena.allocate("anna", name, 2)
    assert arena.free("anna") == 0
    assert arena.allocate("anna", "c", 2) is not None
    assert arena.find("anna", "a") is None
    assert arena.find("ben", "older") is not None
    assert arena.allocate("anna", "d", 5) is None
    assert arena.find("anna", "b") is not None


def test_without_a_limit_what_was_not_used_for_longest_goes_first_whoever_has_it() -> None:
    arena = Arena(10)
    arena.allocate("anna", "a", 4)
    arena.allocate("ben", "b", 5)
    assert arena.allocate("ben", "c", 6) is not None
    assert arena.find("anna", "a") is None


def test_what_is_pinned_counts_towards_the_limit() -> None:
    arena = Arena(10, owner_limit=4)
    arena.allocate("anna", "a", 3)
    arena.pin("a")
    assert arena.allocate("anna", "b", 2) is None
    assert arena.allocate("ben", "b", 2) is not None


def test_an_arena_without_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one slot"):
        Arena(0)


class ArenaMachine(RuleBasedStateMachine):
    """Any order of calls keeps every slot in exactly one place and owners apart."""

    limit: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self.arena = Arena(23, self.limit)
        self.pins: list[str] = []
        self.owners: dict[str, str] = {}

    @rule(number=st.integers(0, 8), length=st.integers(1, 9), owner=st.sampled_from("ab"))
    def allocate(self, number: int, length: int, owner: str) -> None:
        name = f"s{number}"
        if self.arena.resident(name):
            return
        before = self.arena.stats()
        segment = self.arena.allocate(owner, name, length)
        if segment is None:
            assert self.arena.stats() == before
        else:
            self.owners[name] = owner
            assert segment.length == length

    @rule(number=st.integers(0, 8))
    def pin(self, number: int) -> None:
        name = f"s{number}"
        if self.arena.resident(name) and self.arena.find(self.owners[name], name):
            self.arena.pin(name)
            self.pins.append(name)

    @rule(data=st.data())
    def unpin(self, data: st.DataObject) -> None:
        if self.pins:
            name = self.pins.pop(data.draw(st.integers(0, len(self.pins) - 1)))
            self.arena.unpin(name)

    @rule(owner=st.sampled_from("ab"), names=st.none() | st.lists(st.sampled_from(["s1", "s2"])))
    def drop(self, owner: str, names: list[str] | None) -> None:
        self.arena.drop(owner, names)
        for name, whose in self.owners.items():
            if whose == owner and (names is None or name in names):
                assert self.arena.find(owner, name) is None

    @invariant()
    def every_slot_is_in_one_place(self) -> None:
        self.arena.check_integrity()

    @invariant()
    def what_is_pinned_is_resident(self) -> None:
        assert all(self.arena.resident(name) for name in self.pins)
        assert self.arena.stats()["pinned_segments"] == len(set(self.pins))

    @invariant()
    def no_owner_finds_anothers(self) -> None:
        for name, owner in self.owners.items():
            assert self.arena.find("b" if owner == "a" else "a", name) is None


TestArenaMachine = ArenaMachine.TestCase
TestArenaMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


class LimitedMachine(ArenaMachine):
    """The same where an owner may not hold everything."""

    limit = 11


TestLimitedMachine = LimitedMachine.TestCase
TestLimitedMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
