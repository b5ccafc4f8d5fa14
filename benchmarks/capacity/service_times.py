"""How long a message takes, by the tier that holds its user's KV and the facts it recalls."""

from benchmarks.capacity.capacity_report import disk_ms
from benchmarks.capacity.engine_capacity import Memory
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.rates import Rates
from benchmarks.capacity.simulation.lru_tiers import Tier

_ARMS = {Tier.DEVICE: "kv", Tier.HOST: "host", Tier.NONE: "text"}


class ServiceTimes:
    """Seconds to the first token alone, and seconds of the engine, from measured rates."""

    def __init__(self, fleet: FleetDemand, rates: Rates, memory: Memory, a_fact: int) -> None:
        self._fleet, self._a_fact = fleet, a_fact
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
        self._times[Tier.DISK] = self._times[Tier.HOST if memory.host else Tier.DEVICE]
        # A fact costs about its own tokens to encode.
        self.facts_per_s = rates.encode_beside_chat * rates.fact_tokens / fleet.tokens

    def of(self, tier: Tier, facts: int) -> tuple[float, float]:
        """Seconds to the first token and of the engine, for a user with so many facts."""
        first, busy = self._times[tier][min(facts, self._fleet.k)]
        if tier is Tier.DISK:
            reading = disk_ms(self._fleet, facts * self._a_fact) / 1000
            return first + reading, busy + reading
        return first, busy
