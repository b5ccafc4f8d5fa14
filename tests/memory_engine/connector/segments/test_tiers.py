"""Device and host memory behind it: what is evicted comes back, promises hold, owners apart.

The stateful test also executes the moves on a model of both memories: what a pinned
segment's slots hold must be what was saved under its id.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Direction, Tiers


def tiers(device: int, host: int) -> Tiers:
    return Tiers(Arena(device), Arena(host) if host else None)


def saved(held: Tiers, name: str, length: int = 2, owner: str = "anna") -> None:
    assert held.allocate(owner, name, length) is not None
    held.unpin(name)


def test_what_the_device_evicts_is_demoted_and_promoted_when_it_is_wanted() -> None:
    held = tiers(4, 4)
    for name in ("a", "b", "c"):
        saved(held, name)
    assert [m.direction for m in held.take_moves()] == [Direction.DEMOTE]
    assert held.pin("anna", "a", 2)
    assert [m.direction for m in held.take_moves()] == [Direction.DEMOTE, Direction.PROMOTE]
    assert held.stats()["promotions"] == 1
    held.unpin("a")
    held.check_integrity()


def test_a_promoted_segment_keeps_its_host_copy_and_is_evicted_without_a_move() -> None:
    held = tiers(2, 4)
    saved(held, "a")
    saved(held, "b")
    assert held.pin("anna", "a", 2)
    held.unpin("a")
    held.take_moves()
    assert held.pin("anna", "b", 2)
    held.unpin("b")
    assert [m.direction for m in held.take_moves()] == [Direction.PROMOTE]


def test_without_host_memory_what_is_evicted_is_gone() -> None:
    held = tiers(2, 0)
    saved(held, "a")
    saved(held, "b")
    assert not held.find("anna", "a")
    assert held.take_moves() == ()


def test_a_device_full_of_promises_promotes_nothing() -> None:
    held = tiers(2, 4)
    saved(held, "a")
    saved(held, "b")
    assert held.pin("anna", "b", 2)
    assert not held.pin("anna", "a", 2)
    assert held.find("anna", "a")


def test_dropping_forgets_on_both_tiers() -> None:
    held = tiers(4, 4)
    for name in ("a", "b", "c"):
        saved(held, name)
    assert held.drop("anna", ["a", "c"]) == 2
    assert not held.find("anna", "a")
    assert not held.pin("anna", "c", 2)
    assert held.drop("anna") == 1
    held.check_integrity()


def test_another_owner_can_neither_pin_nor_promote() -> None:
    held = tiers(2, 4)
    saved(held, "a")
    saved(held, "b")
    assert not held.pin("ben", "a", 2)
    assert not held.pin("ben", "b", 2)
    assert held.prefetch("ben") == held.demote("ben") == held.drop("ben") == 0


def test_a_segment_of_another_length_is_neither_pinned_nor_promoted() -> None:
    held = tiers(2, 4)
    saved(held, "a")
    saved(held, "b")
    held.take_moves()
    for name in ("a", "b"):
        assert not held.pin("anna", name, 1)
        assert not held.pin("anna", name, 3)
    assert held.take_moves() == ()
    assert held.stats()["pinned_segments"] == 0


def test_an_owner_is_demoted_and_prefetched_whole() -> None:
    held = tiers(6, 6)
    for name in ("a", "b", "c"):
        saved(held, name)
    assert held.on_host("anna") == []
    assert held.demote("anna") == 3
    assert held.on_host("anna") == held.owned("anna")
    assert held.stats()["tokens_used"] == 0
    assert held.prefetch("anna") == 3
    assert held.prefetch("anna") == 0


def test_prefetching_evicts_nobody() -> None:
    held = tiers(4, 8)
    saved(held, "a")
    saved(held, "b")
    held.demote("anna")
    saved(held, "mine", 4, owner="ben")
    assert held.prefetch("anna") == 0
    assert held.find("ben", "mine")


def test_a_run_ends_before_the_first_segment_that_is_not_there_as_asked_for() -> None:
    held = tiers(6, 6)
    for name in ("a", "b", "c", "d"):
        saved(held, name)
    wanted = ["b", "a", "c"]
    # `a` had to make room for `d`, and is promoted in the middle of the run.
    assert held.on_host("anna") == ["a"]
    assert [slots.size for slots in held.pin_run("anna", wanted, [2, 2, 2])] == [2, 2, 2]
    assert held.stats()["pinned_segments"] == 3
    held.unpin_all(["b", "a", "c"])
    assert len(held.pin_run("anna", wanted, [2, 3, 2])) == 1
    held.unpin_all(["b"])
    assert held.pin_run("ben", wanted, [2, 2, 2]) == []
    assert held.stats()["pinned_segments"] == 0


def test_moves_in_one_direction_go_together() -> None:
    held = tiers(6, 6)
    for name in ("a", "b", "c"):
        saved(held, name)
    held.demote("anna")
    assert held.prefetch("anna") == 3
    demoted, promoted = held.take_moves()
    assert (demoted.direction, promoted.direction) == (Direction.DEMOTE, Direction.PROMOTE)
    assert sorted(demoted.device.tolist()) == list(range(6))
    assert sorted(promoted.host.tolist()) == sorted(demoted.host.tolist())


def test_of_two_moves_to_one_slot_the_later_one_stays() -> None:
    held = tiers(2, 4)
    saved(held, "a")
    saved(held, "b")
    held.take_moves()
    assert held.pin("anna", "a", 2)
    held.unpin("a")
    held.take_moves()
    # Both have a place in host memory now, so that neither is demoted again.
    for name in ("b", "a", "b"):
        assert held.pin("anna", name, 2)
        held.unpin(name)
    (promoted,) = held.take_moves()
    contents = held.contents("anna", without={"a"})
    assert contents.segments == (("b", 2),)
    assert sorted(promoted.device.tolist()) == sorted(contents.device.tolist())
    held.demote("anna")
    assert sorted(promoted.host.tolist()) == sorted(
        held.contents("anna", without={"a"}).host.tolist()
    )


class TiersMachine(RuleBasedStateMachine):
    """Any order of calls, with the worker's steps in between."""

    def __init__(self) -> None:
        super().__init__()
        self.tiers = tiers(17, 23)
        self.pins: list[tuple[str, list[int]]] = []  # and the device slots
        self.owners: dict[str, str] = {}
        self.device: dict[int, str] = {}
        self.host: dict[int, str] = {}

    def step(self) -> None:
        """Execute the moves as the worker does."""
        for move in self.tiers.take_moves():
            source, target = (self.device, self.host)
            here, there = move.device.tolist(), move.host.tolist()
            if move.direction is Direction.PROMOTE:
                source, target, here, there = target, source, there, here
            assert len(set(there)) == len(there)
            target |= {
                two: source.get(one, "nothing") for one, two in zip(here, there, strict=True)
            }

    @rule(number=st.integers(0, 8), length=st.integers(1, 7), owner=st.sampled_from("ab"))
    def save(self, number: int, length: int, owner: str) -> None:
        name = f"s{number}"
        if self.tiers.taken(name):
            return
        slots = self.tiers.allocate(owner, name, length)
        if slots is not None:
            self.owners[name] = owner
            self.step()
            self.device |= dict.fromkeys(slots.tolist(), f"{owner}{name}")
            self.tiers.unpin(name)

    @rule(
        numbers=st.lists(st.integers(0, 8), max_size=4),
        owner=st.sampled_from("ab"),
        other=st.none() | st.integers(0, 3),
    )
    def pin_run(self, numbers: list[int], owner: str, other: int | None) -> None:
        """Number `other` of them is asked for with another length than it has."""
        names = [f"s{number}" for number in numbers]
        lengths = [self.tiers.length(owner, name) for name in names]
        asked = [length + (number == other) for number, length in enumerate(lengths)]
        found = self.tiers.pin_run(owner, names, asked)
        for number, (name, slots) in enumerate(zip(names, found, strict=False)):
            assert len(slots) == lengths[number] > 0
            assert number != other
            assert self.owners[name] == owner
            self.pins.append((name, slots.tolist()))

    @rule(data=st.data())
    def unpin(self, data: st.DataObject) -> None:
        if self.pins:
            name, _ = self.pins.pop(data.draw(st.integers(0, len(self.pins) - 1)))
            self.tiers.unpin(name)

    @rule()
    def unpin_all(self) -> None:
        self.tiers.unpin_all([name for name, _ in self.pins])
        self.pins = []

    @rule(owner=st.sampled_from("ab"), names=st.none() | st.lists(st.sampled_from(["s1", "s2"])))
    def drop(self, owner: str, names: list[str] | None) -> None:
        self.tiers.drop(owner, names)
        for name, whose in self.owners.items():
            if whose == owner and (names is None or name in names):
                assert not self.tiers.find(owner, name)

    @rule(owner=st.sampled_from("ab"))
    def demote(self, owner: str) -> None:
        self.tiers.demote(owner)

    @rule(owner=st.sampled_from("ab"))
    def prefetch(self, owner: str) -> None:
        self.tiers.prefetch(owner)

    @invariant()
    def slots_add_up(self) -> None:
        self.tiers.check_integrity()
        assert self.tiers.stats()["pinned_segments"] == len({name for name, _ in self.pins})
        assert "host_pinned_segments" in self.tiers.stats()
        assert self.tiers.stats()["host_pinned_segments"] == 0

    @rule()
    def what_is_pinned_is_on_the_device_and_right(self) -> None:
        self.step()
        for name, slots in self.pins:
            held = {self.device.get(slot) for slot in slots}
            assert held == {f"{self.owners[name]}{name}"}

    @invariant()
    def no_owner_finds_anothers(self) -> None:
        for name, owner in self.owners.items():
            assert not self.tiers.find("b" if owner == "a" else "a", name)


TestTiersMachine = TiersMachine.TestCase
TestTiersMachine.settings = settings(max_examples=80, stateful_step_count=50, deadline=None)
