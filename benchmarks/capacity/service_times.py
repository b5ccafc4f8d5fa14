"""Service times of a message, by the tier of its user's KV and the facts it recalls."""

from benchmarks.capacity.capacity_report import disk_ms
from benchmarks.capacity.engine_capacity import EngineMemory
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.rates import EngineRates
from benchmarks.capacity.simulation.lru_tiers import SimulatedTier

_ARMS = {SimulatedTier.DEVICE: "kv", SimulatedTier.HOST: "host", SimulatedTier.NONE: "text"}


class ServiceTimes:
    """Seconds to the first token alone, and seconds of the engine, from measured rates."""

    def __init__(
        self, fleet: FleetDemand, rates: EngineRates, memory: EngineMemory, fact_bytes: int
    ) -> None:
        self._fleet, self._fact_bytes = fleet, fact_bytes
        counts = range(fleet.k + 1)
        self._times = {
            tier: [
                (
                    rates.ttft(arm).at(n * fleet.tokens) / 1000,
                    rates.busy_ms(arm, n * fleet.tokens, fleet.reply_tokens) / 1000,
                )
                for n in counts
            ]
            for tier, arm in _ARMS.items()
        }
        self._times[SimulatedTier.DISK] = self._times[
            SimulatedTier.HOST if memory.host else SimulatedTier.DEVICE
        ]
        # A fact costs about its own tokens to encode.
        self.facts_per_s = rates.encode_beside_chat * rates.fact_tokens / fleet.tokens

    def of(self, tier: SimulatedTier, facts: int) -> tuple[float, float]:
        """Look up seconds to the first token and of the engine, for a user with so many facts."""
        first, busy = self._times[tier][min(facts, self._fleet.k)]
        if tier is SimulatedTier.DISK:
            reading = disk_ms(self._fleet, facts * self._fact_bytes) / 1000
            return first + reading, busy + reading
        return first, busy
