"""Tiers: segments in device memory and in host memory behind it, and the moves between.

    allocate -> device --evicted--> host --evicted--> gone
                       <-promoted--

A segment's KV never changes, so one that was promoted keeps its place in host memory, and
is evicted from the device without a copy. Pins hold a segment on the device. All of it is
plain Python over integers; the worker executes the moves, in their order, at the start of
the step they are planned for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, islice

import numpy as np

from memory_engine.connector.segments.arena import Arena, Segment, Slots


class Direction(StrEnum):
    """Direction of a move."""

    DEMOTE = "device to host"
    PROMOTE = "host to device"


@dataclass(frozen=True, slots=True)
class Move:
    """Copy the KV of tokens between the tiers: slots of each, int32 [tokens]."""

    direction: Direction
    device: Slots
    host: Slots


@dataclass(frozen=True, slots=True)
class Held:
    """An owner's segments as (id, length), those on the device first, and their slots."""

    segments: tuple[tuple[str, int], ...]
    device: Slots
    host: Slots


@dataclass(frozen=True, slots=True)
class Reserved:
    """Slots, on one tier, for these segments of a snapshot, and the rows that go there."""

    ids: tuple[str, ...]
    rows: Slots
    slots: Slots
    on_host: bool


class Tiers:
    """An arena on the device and, where there is one, an arena in host memory behind it.

    Not thread-safe: the scheduler owns it. Another owner's segment counts as absent.
    """

    def __init__(self, device: Arena, host: Arena | None = None) -> None:
        self._device = device
        self._host = host
        self._moves: list[Move] = []
        self.promotions = 0
        self.demotions = 0
        device.on_evict = self._demote

    def find(self, owner: str, segment_id: str) -> bool:
        """True if the segment is at hand, on either tier; does not count as a use."""
        return self._device.find(owner, segment_id) is not None or (
            self._host is not None and self._host.find(owner, segment_id) is not None
        )

    def length(self, owner: str, segment_id: str) -> int:
        """Tokens of the segment if it is at hand, on either tier; 0 if it is not."""
        segment = self._device.find(owner, segment_id)
        if segment is None and self._host is not None:
            segment = self._host.find(owner, segment_id)
        return 0 if segment is None else segment.length

    def taken(self, segment_id: str) -> bool:
        """True if the id is held by anyone, dropped while pinned or not."""
        return self._device.resident(segment_id) or (
            self._host is not None and self._host.resident(segment_id)
        )

    def pin(self, owner: str, segment_id: str, length: int) -> bool:
        """Keep the segment on the device until `unpin`, after promoting it if need be.

        False if it is not at hand with so many tokens, or the device has no room that is
        not pinned.
        """
        segment = self._device.find(owner, segment_id)
        if segment is None and not self._promote(owner, segment_id, length):
            return False
        if segment is not None and segment.length != length:
            return False
        self._device.pin(segment_id)
        self._device.touch(segment_id)
        return True

    def pin_run(
        self, owner: str, segment_ids: Sequence[str], lengths: Sequence[int]
    ) -> list[Slots]:
        """`pin` these segments, in order, up to the first that cannot be.

        Returns the device slots of those that are pinned now: int32 [length] each.
        """
        found = self._device.pin_run(owner, zip(segment_ids, lengths, strict=True))
        for segment_id, length in islice(zip(segment_ids, lengths, strict=True), len(found), None):
            if not self.pin(owner, segment_id, length):
                break
            found.append(self._device.slots(segment_id))
        return found

    def unpin(self, segment_id: str) -> None:
        """Undo one `pin`."""
        self._device.unpin(segment_id)

    def unpin_all(self, segment_ids: Iterable[str]) -> None:
        """Undo one `pin` of each."""
        self._device.unpin_all(segment_ids)

    def touch(self, owner: str, segment_id: str) -> None:
        """Count a use, on the tier where the segment is."""
        for tier in filter(None, (self._device, self._host)):
            if tier.find(owner, segment_id) is not None:
                tier.touch(segment_id)
                return

    def allocate(self, owner: str, segment_id: str, length: int) -> Slots | None:
        """Device slots for a new segment, pinned; None if there is no room. int32 [length].

        The caller unpins it when its KV is there: until then nothing may read it.
        """
        assert not self.taken(segment_id), f"segment {segment_id} is resident already"
        segment = self._device.allocate(owner, segment_id, length)
        if segment is None:
            return None
        self._device.pin(segment_id)
        return segment.slots

    def drop(self, owner: str, segment_ids: Iterable[str] | None = None) -> int:
        """Forget these segments of `owner`, or all, on both tiers; how many there were."""
        wanted = None if segment_ids is None else list(segment_ids)
        gone = set(self._device.drop(owner, wanted))
        if self._host is not None:
            gone |= set(self._host.drop(owner, wanted))
        return len(gone)

    def demote(self, owner: str) -> int:
        """Take the owner's segments that nobody has pinned off the device; how many there were.

        They stay in host memory as far as there is room.
        """
        return sum(self._device.evict(segment_id) for segment_id in self._device.owned(owner))

    def prefetch(self, owner: str) -> int:
        """Promote the owner's segments that only host memory holds, as far as there is room.

        Nothing is evicted for it. Returns how many were promoted.
        """
        count = 0
        for segment_id in [] if self._host is None else self._host.owned(owner):
            held = self._host.find(owner, segment_id) if self._host is not None else None
            if held is None or self._device.free(owner) < held.length:
                continue
            if self._device.find(owner, segment_id) is None:
                count += self._promote(owner, segment_id, held.length)
        return count

    def reserve(self, owner: str, segments: Iterable[tuple[str, int]]) -> Reserved:
        """Slots for segments whose KV is to be read from a snapshot: ids and lengths.

        They are not found before `settle`. Taken ids and what does not fit are left out.
        """
        arena = self._device if self._host is None else self._host
        ids, rows, slots, at = [], [], [], 0
        for segment_id, length in segments:
            held = None if self.taken(segment_id) else arena.allocate(owner, segment_id, length)
            if held is not None:
                held.ready = False
                arena.pin(segment_id)
                ids.append(segment_id)
                rows.append(np.arange(at, at + length, dtype=np.int32))
                slots.append(held.slots)
            at += length
        return Reserved(tuple(ids), _joined(rows), _joined(slots), self._host is not None)

    def settle(self, segment_id: str, on_host: bool, *, there: bool) -> None:
        """A reserved segment's KV is there, or is given up."""
        arena = self._host if on_host else self._device
        assert arena is not None
        arena.ready(segment_id, there=there)

    def contents(self, owner: str, without: set[str]) -> Held:
        """The owner's segments and where they are, but for those in `without`."""
        device = [i for i in self._device.owned(owner) if i not in without]
        host = [i for i in self.on_host(owner) if i not in without]
        found = [self._device.find(owner, i) for i in device]
        found += [self._host.find(owner, i) for i in host] if self._host is not None else []
        kept = [segment for segment in found if segment is not None]
        return Held(
            tuple((i, s.length) for i, s in zip(device + host, kept, strict=True)),
            _joined([s.slots for s in kept[: len(device)]]),
            _joined([s.slots for s in kept[len(device) :]]),
        )

    def owned(self, owner: str) -> list[str]:
        """The ids of the owner's segments on either tier."""
        held = self._device.owned(owner)
        return list(dict.fromkeys(held + ([] if self._host is None else self._host.owned(owner))))

    def on_host(self, owner: str) -> list[str]:
        """The ids of the owner's segments that only host memory holds."""
        held = [] if self._host is None else self._host.owned(owner)
        return [i for i in held if not self._device.resident(i)]

    def take_moves(self) -> tuple[Move, ...]:
        """The moves planned since the last call, for the worker to execute in this order."""
        moves, self._moves = self._moves, []
        groups = groupby(moves, key=lambda move: move.direction)
        return tuple(_merged(direction, list(group)) for direction, group in groups)

    def stats(self) -> dict[str, int]:
        """The device arena's counts; the host's with the prefix `host_`; the moves."""
        stats = self._device.stats()
        if self._host is not None:
            stats |= {f"host_{name}": count for name, count in self._host.stats().items()}
        return stats | {"promotions": self.promotions, "demotions": self.demotions}

    def check_integrity(self) -> None:
        """Raise RuntimeError if slots of a tier do not add up."""
        for tier in filter(None, (self._device, self._host)):
            tier.check_integrity()

    def _promote(self, owner: str, segment_id: str, length: int) -> bool:
        held = None if self._host is None else self._host.find(owner, segment_id)
        if held is None or self._host is None or self._device.resident(segment_id):
            return False
        if held.length != length:
            return False
        # Making room on the device may demote into the host tier, and evict there.
        self._host.pin(segment_id)
        segment = self._device.allocate(owner, segment_id, held.length)
        self._host.touch(segment_id)
        self._host.unpin(segment_id)
        if segment is None:
            return False
        self._moves.append(Move(Direction.PROMOTE, segment.slots, held.slots))
        self.promotions += 1
        return True

    def _demote(self, segment_id: str, evicted: Segment) -> None:
        if self._host is None or self._host.resident(segment_id):
            return
        held = self._host.allocate(evicted.owner, segment_id, evicted.length)
        if held is not None:
            self._moves.append(Move(Direction.DEMOTE, evicted.slots, held.slots))
            self.demotions += 1


def _merged(direction: Direction, moves: list[Move]) -> Move:
    """Moves in one direction as a single one, whose tokens may be copied in any order."""
    if len(moves) == 1:
        return moves[0]
    device = _joined([move.device for move in moves])
    host = _joined([move.host for move in moves])
    target = device if direction is Direction.PROMOTE else host
    # A slot that was given away in between keeps what came last.
    _, from_end = np.unique(target[::-1], return_index=True)
    if from_end.size < target.size:
        last = target.size - 1 - from_end
        device, host = device[last], host[last]
    return Move(direction, device, host)


def _joined(parts: list[Slots]) -> Slots:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
