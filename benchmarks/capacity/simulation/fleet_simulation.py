"""A fleet in use: users talk, engines queue and encode, one engine is lost. Discrete events."""

from collections.abc import Generator
from typing import Any

import simpy
from uhashring import HashRing

from benchmarks.capacity.engine_capacity import Memory
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.rates import Rates
from benchmarks.capacity.service_times import ServiceTimes
from benchmarks.capacity.simulation.lru_tiers import Tier, Tiers
from benchmarks.capacity.simulation.message_log import MessageLog
from benchmarks.capacity.simulation.scenario import Scenario
from benchmarks.capacity.simulation.simulated_engine import Station
from benchmarks.capacity.simulation.simulated_users import SimulatedUsers

Process = Generator[simpy.Event, Any, None]


class Simulation:
    """One run. engines: how many there are. memory: of each. a_fact: bytes of a fact."""

    def __init__(
        self,
        fleet: FleetDemand,
        scenario: Scenario,
        rates: Rates,
        memory: Memory,
        *,
        engines: int,
        a_fact: int,
    ) -> None:
        self._scenario, self._a_fact = scenario, a_fact
        self._crowd = SimulatedUsers(fleet, scenario)
        self._services = ServiceTimes(fleet, rates, memory, a_fact)
        self._environment = simpy.Environment()
        self.journal = MessageLog()
        self.stations = {
            name: Station(
                self._environment,
                name,
                Tiers(memory.device, memory.host, memory.disk),
                self._services.facts_per_s,
            )
            for name in (f"engine-{number}" for number in range(engines))
        }
        self._ring = HashRing(list(self.stations))
        self._at: dict[int, Station] = {}
        self._pauses, self._learns = self._crowd.pauses(), self._crowd.learns()

    def run(self) -> None:
        """Fill the caches, then simulate to the end."""
        if self._scenario.mode == "kv":
            self._warm_up()
        self._environment.process(self._open())
        if self._scenario.lost_at is not None:
            self._environment.process(self._lose(self._scenario.lost_at))
        self._environment.run(self._scenario.seconds)

    def _warm_up(self) -> None:
        for user in self._crowd.before(self._scenario.warm_hours):
            tiers, size = self._station(user).tiers, self._size(user)
            if tiers.use(user, size) is Tier.NONE:
                tiers.add(user, size)

    def _open(self) -> Process:
        for pause, user, messages in self._crowd.opening():
            yield self._environment.timeout(pause)
            self._environment.process(self._talk(user, messages))

    def _talk(self, user: int, messages: int) -> Process:
        for _ in range(messages):
            yield from self._message(user)
            yield self._environment.timeout(next(self._pauses))

    def _message(self, user: int) -> Process:
        """One message, until its reply is complete; elsewhere if the engine is lost first."""
        asked = self._environment.now
        while True:
            station = self._station(user)
            with station.server.request() as turn:
                yield turn
                if station.lost:
                    self.journal.retried += 1
                    continue
                began = self._environment.now
                tier = self._found(station, user)
                first, busy = self._services.of(tier, int(self._crowd.facts[user]))
                yield self._environment.timeout(busy)
                station.busy_s += busy
            if not station.lost:
                waited = began - asked
                self.journal.add(user, asked, waited, waited + first, tier)
                self._remember(station, user, tier)
                return
            if began + first > station.lost_at:
                self.journal.retried += 1
            else:
                # The user has seen the beginning of this reply, and gets an error.
                self.journal.broken += 1
                return

    def _found(self, station: Station, user: int) -> Tier:
        if self._scenario.mode == "text":
            return Tier.NONE
        return station.tiers.use(user, self._size(user))

    def _remember(self, station: Station, user: int, tier: Tier) -> None:
        """After the reply: new facts, and what is to be encoded."""
        learnt = next(self._learns)
        self._crowd.facts[user] += learnt
        if self._scenario.mode == "text" or station.wants(user):
            return
        whole = tier is Tier.NONE
        facts = int(self._crowd.facts[user]) if whole else learnt
        if facts:
            station.encode(user, facts, self._size(user), whole=whole)

    def _lose(self, at: float) -> Process:
        """The first engine is gone, with all that it held; its users are hashed to the others."""
        yield self._environment.timeout(at)
        lost = self.stations["engine-0"]
        lost.lost_at = at
        self.journal.moved = {user for user, station in self._at.items() if station is lost}
        self._ring.remove_node(lost.name)
        self._at.clear()

    def _station(self, user: int) -> Station:
        found = self._at.get(user)
        if found is None:
            found = self._at[user] = self.stations[self._ring.get_node(str(user))]
        return found

    def _size(self, user: int) -> int:
        return int(self._crowd.facts[user]) * self._a_fact
