"""Capacity of one engine: bytes and users that it holds, and messages and facts a second."""

from dataclasses import dataclass
from functools import cached_property

from benchmarks.capacity.che_approximation import hit_rate
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.model_shape import ModelShape
from benchmarks.capacity.rates import EngineRates
from memory_engine.engines.memory_budget import GPU_SHARE
from memory_engine.errors import SettingsError

GIB = 1 << 30
_ONE_AT_A_TIME = 1
_HOST_SHARE = 0.5  # of the memory of the measured machine, where nothing else is said


@dataclass(frozen=True, slots=True)
class EngineMemory:
    """Bytes of one engine: weights, vLLM's cache for running requests, and KV of facts."""

    weights: int
    cache: int
    device: int
    host: int
    disk: int


def engine_memory(fleet: FleetDemand, shape: ModelShape, rates: EngineRates) -> EngineMemory:
    """Divide an engine's memory; the rest beside weights and cache is for facts.

    Raises SettingsError if the model does not fit.
    """
    running = rates.load.concurrency if rates.load else _ONE_AT_A_TIME
    cache = running * (fleet.recalled_tokens + fleet.reply_tokens) * shape.token_bytes()
    on_gpu = rates.gpu_gib > 0
    ram = int(rates.ram_gib * GIB)
    total = int(rates.gpu_gib * GIB * fleet.tensor_parallel * GPU_SHARE) if on_gpu else ram // 2
    device = total - shape.weight_bytes - cache
    if fleet.arena_gib is not None:
        device = int(fleet.arena_gib * GIB)
    if device <= 0:
        raise SettingsError(
            f"{shape.name} does not fit {fleet.tensor_parallel} GPU(s) of {rates.gpu_gib:.0f} GiB "
            "with the cache of its running requests: raise --tensor-parallel, or set --arena-gib."
        )
    host = int(ram * _HOST_SHARE) if on_gpu else 0
    if fleet.host_gib is not None:
        host = int(fleet.host_gib * GIB)
    return EngineMemory(shape.weight_bytes, cache, device, host, int(fleet.disk_gib * GIB))


@dataclass(frozen=True)
class EngineCapacity:
    """Users that each tier of one engine holds, and its work in a second.

    fact_bytes: bytes of a fact's KV.
    """

    fleet: FleetDemand
    rates: EngineRates
    memory: EngineMemory
    fact_bytes: int

    @property
    def user_bytes(self) -> int:
        """Bytes of a user's KV."""
        return self.fleet.facts * self.fact_bytes

    @cached_property
    def users(self) -> dict[str, int]:
        """Users that each tier (`device`, `host`, `disk`) holds alone."""
        return {t: getattr(self.memory, t) // self.user_bytes for t in ("device", "host", "disk")}

    @property
    def at_hand(self) -> int:
        """Users on device and host.

        A user who comes from the host keeps a place there and counts twice, but few do.
        """
        return self.users["device"] + self.users["host"]

    @property
    def facts_per_s(self) -> dict[str, float]:
        """Facts of this fleet's length that are encoded in a second, alone and beside a chat.

        A fact costs about its own tokens.
        """
        length = self.rates.fact_tokens / self.fleet.tokens
        return {
            "alone": self.rates.encode * length,
            "beside_chat": self.rates.encode_beside_chat * length,
        }

    def busy_s(self, arm: str) -> float:
        """Seconds of the engine that a message takes."""
        fleet = self.fleet
        return self.rates.busy_ms(arm, fleet.recalled_tokens, fleet.reply_tokens) / 1000

    def held_at_opening(self, engines: int) -> float:
        """Share of conversations that begin with the user's KV at hand on so many engines."""
        held = self.at_hand + self.users["disk"]
        return hit_rate(self.fleet.users, self.fleet.zipf, engines * held)

    def as_text(self, engines: int) -> float:
        """Share of messages in KV mode that are served as text: first ones without KV."""
        return (1 - self.held_at_opening(engines)) / self.fleet.conversation

    def busy(self, arm: str, engines: int) -> float:
        """Share of its time that each engine works on an arm's messages; KV with those as text."""
        text = 1.0 if arm == "text" else self.as_text(engines)
        mean = text * self.busy_s("text") + (1 - text) * self.busy_s("kv")
        return self.fleet.messages_per_s * mean / engines

    def to_encode_per_s(self, engines: int) -> dict[str, float]:
        """Facts to encode in a second: `new` ones, and `again` those of users whose KV is gone."""
        fleet = self.fleet
        gone = 1 - self.held_at_opening(engines)
        return {
            "new": fleet.messages_per_s * fleet.learnt,
            "again": fleet.conversations_per_s * gone * fleet.facts,
        }

    def encoding(self, engines: int) -> float:
        """Share of its time that each engine's encoding works, beside the chat."""
        return (
            sum(self.to_encode_per_s(engines).values()) / engines / self.facts_per_s["beside_chat"]
        )
