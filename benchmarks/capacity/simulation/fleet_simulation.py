"""Discrete-event simulation of a fleet: users talk, engines queue and encode, one is lost."""

import simpy
from uhashring import HashRing

from benchmarks.capacity.engine_capacity import EngineMemory
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.rates import EngineRates
from benchmarks.capacity.service_times import ServiceTimes
from benchmarks.capacity.simulation.lru_tiers import SimulatedTier, SimulatedTiers
from benchmarks.capacity.simulation.message_log import MessageLog
from benchmarks.capacity.simulation.scenario import Scenario
from benchmarks.capacity.simulation.simulated_engine import Process, SimulatedEngine
from benchmarks.capacity.simulation.simulated_users import SimulatedUsers


class FleetSimulation:
    """One run of the simulation.

    memory: bytes of each of `engines` engines. fact_bytes: bytes of a fact's KV. log: the
    messages so far.
    """

    def __init__(
        self,
        fleet: FleetDemand,
        scenario: Scenario,
        rates: EngineRates,
        memory: EngineMemory,
        *,
        engines: int,
        fact_bytes: int,
    ) -> None:
        self._scenario, self._fact_bytes = scenario, fact_bytes
        self._users = SimulatedUsers(fleet, scenario)
        self._services = ServiceTimes(fleet, rates, memory, fact_bytes)
        self._environment = simpy.Environment()
        self.log = MessageLog()
        self.engines = {
            name: SimulatedEngine(
                self._environment,
                name,
                SimulatedTiers(memory.device, memory.host, memory.disk),
                self._services.facts_per_s,
            )
            for name in (f"engine-{number}" for number in range(engines))
        }
        self._ring = HashRing(list(self.engines))
        self._at: dict[int, SimulatedEngine] = {}
        self._pauses, self._learns = self._users.pauses(), self._users.learns()

    def run(self) -> None:
        """Fill the caches, then simulate to the end."""
        if self._scenario.mode == "kv":
            self._warm_up()
        self._environment.process(self._open())
        if self._scenario.lost_at is not None:
            self._environment.process(self._lose(self._scenario.lost_at))
        self._environment.run(self._scenario.seconds)

    def _warm_up(self) -> None:
        for user in self._users.before(self._scenario.warm_hours):
            tiers, size = self._engine_of(user).tiers, self._size(user)
            if tiers.use(user, size) is SimulatedTier.NONE:
                tiers.add(user, size)

    def _open(self) -> Process:
        for pause, user, messages in self._users.opening():
            yield self._environment.timeout(pause)
            self._environment.process(self._talk(user, messages))

    def _talk(self, user: int, messages: int) -> Process:
        for _ in range(messages):
            yield from self._message(user)
            yield self._environment.timeout(next(self._pauses))

    def _message(self, user: int) -> Process:
        """Serve one message until its reply is complete; elsewhere if the engine is lost first."""
        asked = self._environment.now
        while True:
            engine = self._engine_of(user)
            with engine.server.request() as turn:
                yield turn
                if engine.lost:
                    self.log.retried += 1
                    continue
                began = self._environment.now
                tier = self._found(engine, user)
                first, busy = self._services.of(tier, int(self._users.facts[user]))
                yield self._environment.timeout(busy)
                engine.busy_s += busy
            if not engine.lost:
                waited = began - asked
                self.log.add(user, asked, waited, waited + first, tier)
                self._remember(engine, user, tier)
                return
            if began + first > engine.lost_at:
                self.log.retried += 1
            else:
                # The user has seen the beginning of this reply, and gets an error.
                self.log.broken += 1
                return

    def _found(self, engine: SimulatedEngine, user: int) -> SimulatedTier:
        if self._scenario.mode == "text":
            return SimulatedTier.NONE
        return engine.tiers.use(user, self._size(user))

    def _remember(self, engine: SimulatedEngine, user: int, tier: SimulatedTier) -> None:
        """Learn new facts after the reply, and queue their encoding."""
        learnt = next(self._learns)
        self._users.facts[user] += learnt
        if self._scenario.mode == "text" or engine.wants(user):
            return
        whole = tier is SimulatedTier.NONE
        facts = int(self._users.facts[user]) if whole else learnt
        if facts:
            engine.encode(user, facts, self._size(user), whole=whole)

    def _lose(self, at: float) -> Process:
        """Lose the first engine with all that it held; its users are hashed to the others."""
        yield self._environment.timeout(at)
        lost = self.engines["engine-0"]
        lost.lost_at = at
        self.log.moved = {user for user, engine in self._at.items() if engine is lost}
        self._ring.remove_node(lost.name)
        self._at.clear()

    def _engine_of(self, user: int) -> SimulatedEngine:
        found = self._at.get(user)
        if found is None:
            found = self._at[user] = self.engines[self._ring.get_node(str(user))]
        return found

    def _size(self, user: int) -> int:
        return int(self._users.facts[user]) * self._fact_bytes
