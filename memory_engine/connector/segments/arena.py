"""The scheduler side of the arena: resident segments and their slots.

Plain bookkeeping over integers; the tensors live with the worker, at the same slots.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.int32]


@dataclass(slots=True)
class Segment:
    """A run of tokens whose KV is in the arena.

    `slots` is int32 of shape [length], one slot a token, in token order. `pins` counts
    the promises that keep it from eviction; a segment dropped while pinned is `doomed`
    and goes with its last pin. One that is not `ready` has no KV yet, and is not found.
    """

    owner: str
    slots: Slots
    pins: int = 0
    doomed: bool = False
    ready: bool = True

    @property
    def length(self) -> int:
        return self.slots.size


class Arena:
    """Slots for `capacity` tokens, given to segments and evicted least recently used first.

    An owner holds at most `owner_limit` of them, None for all: whoever reaches it makes room
    among their own segments, and takes none from others. Not thread-safe: the scheduler owns
    it. Every method that takes an owner treats another owner's segment as absent.
    """

    def __init__(self, capacity: int, owner_limit: int | None = None) -> None:
        if capacity <= 0:
            raise ValueError(f"an arena needs at least one slot, got {capacity}")
        self.capacity = capacity
        self._owner_limit = owner_limit
        self._owned: Counter[str] = Counter()  # slots by owner
        self.evictions = 0
        # Told of every segment before its slots are given away; not of dropped ones.
        self.on_evict: Callable[[str, Segment], None] | None = None
        self._free = np.arange(capacity - 1, -1, -1, dtype=np.int32)
        self._free_count = capacity
        self._pinned = 0
        # Least recently used first.
        self._segments: OrderedDict[str, Segment] = OrderedDict()

    def find(self, owner: str, segment_id: str) -> Segment | None:
        """The resident segment, or None; does not count as a use."""
        segment = self._held(owner, segment_id)
        return segment if segment is not None and segment.ready else None

    def touch(self, segment_id: str) -> None:
        """Count a use, for the eviction order."""
        self._segments.move_to_end(segment_id)

    def allocate(self, owner: str, segment_id: str, length: int) -> Segment | None:
        """Slots for a new segment, evicting unpinned ones; None if that is not enough.

        On None nothing was evicted.
        """
        assert segment_id not in self._segments, f"segment {segment_id} is resident already"
        assert length > 0
        if not self._make_room(owner, length):
            return None
        self._free_count -= length
        self._owned[owner] += length
        slots = self._free[self._free_count : self._free_count + length].copy()
        segment = Segment(owner, slots)
        self._segments[segment_id] = segment
        return segment

    def slots(self, segment_id: str) -> Slots:
        """Slots of a segment the caller has pinned, dropped meanwhile or not: int32 [length]."""
        segment = self._segments[segment_id]
        assert segment.pins > 0, f"segment {segment_id} is not pinned"
        return segment.slots

    def pin(self, segment_id: str) -> None:
        """Keep the segment resident until `unpin`."""
        segment = self._segments[segment_id]
        self._pinned += segment.pins == 0
        segment.pins += 1

    def pin_run(self, owner: str, wanted: Iterable[tuple[str, int]]) -> list[Slots]:
        """Pin and touch segments, given by id and length, one after the other.

        Ends at the first that is not found with that length. Returns the slots of those
        before it, in order.
        """
        # Every request passes here before its first token: one loop, and no calls in it but
        # the dictionary's.
        segments, found = self._segments, []
        for segment_id, length in wanted:
            segment = segments.get(segment_id)
            if segment is None or segment.owner != owner or segment.doomed or not segment.ready:
                break
            slots = segment.slots
            if slots.size != length:
                break
            if segment.pins == 0:
                self._pinned += 1
            segment.pins += 1
            segments.move_to_end(segment_id)
            found.append(slots)
        return found

    def unpin(self, segment_id: str) -> None:
        """Undo one `pin`; frees the segment if it was dropped meanwhile."""
        self.unpin_all([segment_id])

    def unpin_all(self, segment_ids: Iterable[str]) -> None:
        """Undo one `pin` of each."""
        segments = self._segments
        for segment_id in segment_ids:
            segment = segments[segment_id]
            assert segment.pins > 0, f"segment {segment_id} is not pinned"
            segment.pins -= 1
            if segment.pins == 0:
                self._pinned -= 1
                if segment.doomed:
                    self._release(segment_id)

    def drop(self, owner: str, segment_ids: Iterable[str] | None = None) -> list[str]:
        """Forget these segments of `owner`, or all of them; return those there were.

        From now on `find` does not see them, pinned or not.
        """
        wanted = dict.fromkeys(self._segments if segment_ids is None else segment_ids)
        found = [i for i in wanted if self._held(owner, i) is not None]
        for segment_id in found:
            segment = self._segments[segment_id]
            segment.doomed = True
            if segment.pins == 0:
                self._release(segment_id)
        return found

    def evict(self, segment_id: str) -> bool:
        """Give a resident segment's slots free; False if it is pinned."""
        if self._segments[segment_id].pins > 0:
            return False
        self._evict(segment_id)
        return True

    def owned(self, owner: str) -> list[str]:
        """The ids of the owner's segments, the one not used for longest first."""
        return [i for i in self._segments if self.find(owner, i) is not None]

    def free(self, owner: str) -> int:
        """Slots that the owner may have without an eviction."""
        if self._owner_limit is None:
            return self._free_count
        return min(self._free_count, self._owner_limit - self._owned[owner])

    def resident(self, segment_id: str) -> bool:
        """True if slots are held under this id, by any owner, doomed or not."""
        return segment_id in self._segments

    def stats(self) -> dict[str, int]:
        """Counts: segments, tokens_used, capacity, pinned_segments, evictions."""
        return {
            "segments": len(self._segments),
            "tokens_used": self.capacity - self._free_count,
            "capacity": self.capacity,
            "pinned_segments": self._pinned,
            "evictions": self.evictions,
        }

    def check_integrity(self) -> None:
        """Raise RuntimeError if a slot is lost, held twice, or out of range, or pins are."""
        if self._pinned != sum(s.pins > 0 for s in self._segments.values()):
            raise RuntimeError(f"pins do not add up: {self.stats()}")
        held = [self._free[: self._free_count], *(s.slots for s in self._segments.values())]
        slots = np.sort(np.concatenate(held))
        if not np.array_equal(slots, np.arange(self.capacity)):
            raise RuntimeError(f"arena of {self.capacity} slots does not add up: {self.stats()}")
        owned: Counter[str] = Counter()
        for segment in self._segments.values():
            owned[segment.owner] += segment.length
        limit = self.capacity if self._owner_limit is None else self._owner_limit
        if owned != self._owned or max(owned.values(), default=0) > limit:
            raise RuntimeError(f"owners' slots do not add up: {self.stats()}")

    def ready(self, segment_id: str, *, there: bool) -> None:
        """A segment allocated as not ready has its KV now and loses a pin, or is given up."""
        segment = self._segments[segment_id]
        segment.ready = True
        segment.doomed = segment.doomed or not there
        self.unpin(segment_id)

    def _held(self, owner: str, segment_id: str) -> Segment | None:
        segment = self._segments.get(segment_id)
        if segment is None or segment.owner != owner or segment.doomed:
            return None
        return segment

    def _make_room(self, owner: str, length: int) -> bool:
        limit = self._owner_limit
        over = 0 if limit is None else self._owned[owner] + length - limit
        missing = length - self._free_count
        victims = []
        for segment_id, segment in self._segments.items():
            if over <= 0 and missing <= 0:
                break
            # While the owner has too much, only their own segments count.
            if segment.pins == 0 and (over <= 0 or segment.owner == owner):
                victims.append(segment_id)
                missing -= segment.length
                over -= segment.length if segment.owner == owner else 0
        if over > 0 or missing > 0:
            return False
        for segment_id in victims:
            self._evict(segment_id)
        return True

    def _evict(self, segment_id: str) -> None:
        if self.on_evict is not None:
            self.on_evict(segment_id, self._segments[segment_id])
        self._release(segment_id)
        self.evictions += 1

    def _release(self, segment_id: str) -> None:
        segment = self._segments.pop(segment_id)
        slots = segment.slots
        self._owned[segment.owner] -= slots.size
        if not self._owned[segment.owner]:
            del self._owned[segment.owner]
        self._free[self._free_count : self._free_count + slots.size] = slots
        self._free_count += slots.size
