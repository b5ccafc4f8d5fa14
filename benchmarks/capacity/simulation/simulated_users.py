"""Simulated users: activity by a Zipf law, and a number of facts for each."""

from collections.abc import Iterator

import numpy as np

from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.simulation.scenario import HOUR, Scenario

_BATCH = 4096


class SimulatedUsers:
    """Users numbered from the most active on; the i-th talks in proportion to 1 / i^zipf.

    facts: of each user, int64 [users], geometric with the fleet's mean.
    """

    def __init__(self, fleet: FleetDemand, scenario: Scenario) -> None:
        self._random = np.random.default_rng(scenario.seed)
        weights = np.arange(1, fleet.users + 1, dtype=np.float64) ** -fleet.zipf
        self._cumulative = np.cumsum(weights) / weights.sum()
        self.facts = self._random.geometric(1 / fleet.facts, fleet.users)
        self._fleet = fleet

    def opening(self) -> Iterator[tuple[float, int, int]]:
        """Draw conversations without end: seconds since the one before, user, messages."""
        while True:
            pauses = self._random.exponential(1 / self._fleet.conversations_per_s, _BATCH)
            lengths = self._random.geometric(1 / self._fleet.conversation, _BATCH)
            yield from zip(
                pauses.tolist(), self._who(_BATCH).tolist(), lengths.tolist(), strict=True
            )

    def before(self, hours: float) -> list[int]:
        """Draw the users who opened a conversation in these hours, in order."""
        return list(map(int, self._who(int(hours * HOUR * self._fleet.conversations_per_s))))

    def pauses(self) -> Iterator[float]:
        """Draw seconds between a reply and the user's next message, without end."""
        while True:
            yield from self._random.exponential(self._fleet.pause, _BATCH).tolist()

    def learns(self) -> Iterator[int]:
        """Draw numbers of new facts that a message teaches, without end."""
        while True:
            yield from self._random.poisson(self._fleet.learnt, _BATCH).tolist()

    def _who(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.searchsorted(self._cumulative, self._random.random(count))
