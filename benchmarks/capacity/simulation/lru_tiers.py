"""LRU tiers of a simulated engine's KV, a user at a time.

    device --evicted--> host --evicted--> disk --evicted--> gone
           <-promoted--      <--read back--

As in the connector, what was promoted keeps its place in host memory. Unlike there, all
facts of a user come and go together, and disk takes what host memory evicts.
"""

from collections import OrderedDict
from enum import IntEnum


class SimulatedTier(IntEnum):
    """Tier in which a user's KV was found."""

    DEVICE = 0
    HOST = 1
    DISK = 2
    NONE = 3


class LruTier:
    """LRU cache of users and the bytes that each takes, at most `capacity` in all."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self._held: OrderedDict[int, int] = OrderedDict()

    def __contains__(self, user: int) -> bool:
        return user in self._held

    def __len__(self) -> int:
        return len(self._held)

    def touch(self, user: int) -> None:
        """Count a use of a user who is held."""
        self._held.move_to_end(user)

    def put(self, user: int, size: int) -> list[tuple[int, int]]:
        """Hold `size` bytes of the user, as the latest used; return evicted users with their bytes.

        A user who is larger than the whole tier is not held.
        """
        self.drop(user)
        if size > self.capacity:
            return []
        evicted = []
        while self.used + size > self.capacity:
            evicted.append(self._held.popitem(last=False))
            self.used -= evicted[-1][1]
        self._held[user] = size
        self.used += size
        return evicted

    def drop(self, user: int) -> None:
        """Hold nothing of the user."""
        self.used -= self._held.pop(user, 0)


class SimulatedTiers:
    """Tiers of one engine; capacities in bytes, 0 for a tier that is not there."""

    def __init__(self, device: int, host: int, disk: int) -> None:
        self.device, self.host, self.disk = LruTier(device), LruTier(host), LruTier(disk)

    def use(self, user: int, size: int) -> SimulatedTier:
        """Bring the user's KV of `size` bytes to the device; return the tier where it was."""
        if user in self.device:
            self.device.touch(user)
            return SimulatedTier.DEVICE
        if user in self.host:
            self.host.touch(user)
            self.add(user, size)
            return SimulatedTier.HOST
        if user in self.disk:
            self.disk.touch(user)
            self._demote(user, size)
            self.add(user, size)
            return SimulatedTier.DISK
        return SimulatedTier.NONE

    def holds(self, user: int) -> bool:
        """True if the user's KV is on any tier; does not count as a use."""
        return any(user in tier for tier in (self.device, self.host, self.disk))

    def add(self, user: int, size: int) -> None:
        """Put the user's KV on the device, newly encoded or grown."""
        for evicted, its_size in self.device.put(user, size):
            self._demote(evicted, its_size)

    def _demote(self, user: int, size: int) -> None:
        if user in self.host:
            return
        if size > self.host.capacity:
            self._to_disk(user, size)
        for evicted, its_size in self.host.put(user, size):
            self._to_disk(evicted, its_size)

    def _to_disk(self, user: int, size: int) -> None:
        if user not in self.disk:
            self.disk.put(user, size)
