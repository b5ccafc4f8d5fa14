"""A simulated engine: one queue for messages, one for encoding, and the KV it holds.

Messages take turns: each keeps the engine for the time that a request takes of it under
load. Encoding goes on beside them at the rate that was measured beside a chat, which that
chat did not notice, so the two queues share nothing.
"""

from collections.abc import Generator
from math import inf
from typing import Any

import simpy

from benchmarks.capacity.simulation.lru_tiers import SimulatedTiers

Process = Generator[simpy.Event, Any, None]


class SimulatedEngine:
    """Queues and tiers of one engine.

    name: by which users are hashed to it. facts_per_s: its rate of encoding.
    """

    def __init__(
        self, environment: simpy.Environment, name: str, tiers: SimulatedTiers, facts_per_s: float
    ) -> None:
        self.name, self.tiers = name, tiers
        self.server = simpy.Resource(environment)
        self.lost_at = inf
        self.busy_s = self.encoding_s = 0.0
        self.waiting_facts = self.most_waiting_facts = 0
        self._environment = environment
        self._facts_per_s = facts_per_s
        self._jobs = simpy.Store(environment)
        self._wanted: set[int] = set()
        environment.process(self._encode())

    @property
    def lost(self) -> bool:
        """True once it is gone, with all it held."""
        return self.lost_at < inf

    def wants(self, user: int) -> bool:
        """True if all facts of the user wait to be encoded, or are being encoded."""
        return user in self._wanted

    def encode(self, user: int, facts: int, size: int, *, whole: bool) -> None:
        """Encode so many facts of a user, who then takes `size` bytes.

        whole: these are all the user has; otherwise they are new ones, and are of use only
        beside the others.
        """
        if whole:
            self._wanted.add(user)
        self.waiting_facts += facts
        self.most_waiting_facts = max(self.most_waiting_facts, self.waiting_facts)
        self._jobs.put((user, facts, size))

    def _encode(self) -> Process:
        while True:
            user, facts, size = yield self._jobs.get()
            duration = facts / self._facts_per_s
            yield self._environment.timeout(duration)
            self.waiting_facts -= facts
            self.encoding_s += duration
            if user in self._wanted or self.tiers.holds(user):
                self.tiers.add(user, size)
            self._wanted.discard(user)
