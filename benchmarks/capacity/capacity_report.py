"""Capacity report of a fleet: bytes, engines, encoding, and time to the first token."""

from collections.abc import Callable
from dataclasses import asdict
from math import ceil
from typing import Any

from benchmarks.capacity.engine_capacity import EngineCapacity, engine_memory
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.model_shape import ModelShape
from benchmarks.capacity.rates import EngineRates
from memory_engine.errors import SettingsError

Report = dict[str, Any]


def capacity_report(fleet: FleetDemand, shape: ModelShape, rates: EngineRates) -> Report:
    """Work out the capacity that a fleet needs, as plain values ready for `json.dumps`.

    Bytes, milliseconds and seconds as named. Raises SettingsError if an engine does not hold
    one user's facts.
    """
    fact_bytes = fleet.tokens * shape.token_bytes(fleet.store)
    capacity = EngineCapacity(fleet, rates, engine_memory(fleet, shape, rates), fact_bytes)
    if not capacity.at_hand:
        raise SettingsError("An engine does not hold one user's facts: raise --arena-gib.")
    kv = _fewest(lambda engines: _enough(capacity, engines))
    engines = fleet.engines or kv
    return {
        "model": shape.name,
        "rates": _about(rates, fleet),
        "fleet": asdict(fleet),
        "bytes": {
            "a_token": shape.token_bytes(fleet.store),
            "a_fact": fact_bytes,
            "a_user": capacity.user_bytes,
            "fleet": capacity.user_bytes * fleet.users,
        },
        "engine": {"bytes": asdict(capacity.memory), "users": capacity.users},
        "ttft_ms": _ttft(capacity),
        "engines_needed": {"kv": kv, **_engines_for_each(capacity)},
        "engines": engines,
        "load": {
            "messages_per_s": round(fleet.messages_per_s, 3),
            "talking": round(fleet.talking, 1),
            "held_at_opening": round(capacity.held_at_opening(engines), 4),
            "as_text": round(capacity.as_text(engines), 4),
            "arms": {arm: _load(capacity, arm, engines) for arm in ("text", "kv")},
        },
        "encoding": _encoding(capacity, engines),
    }


def _about(rates: EngineRates, fleet: FleetDemand) -> Report:
    return {
        "hardware": rates.hardware,
        "model": rates.model,
        "tensor_parallel": rates.tensor_parallel,
        "estimate": rates.estimate,
        "load_measured": rates.load is not None,
        "beyond_measured": not rates.text.covers(fleet.recalled_tokens),
    }


def _engines_for_each(capacity: EngineCapacity) -> dict[str, int | None]:
    """Engines that each demand needs alone; None where no number of engines meets it."""
    fleet, users = capacity.fleet, capacity.users

    def to_hold(wanted: float, held: int) -> int | None:
        return ceil(wanted / held) if held else None

    return {
        "text": _fewest(lambda engines: capacity.busy("text", engines) <= fleet.utilization),
        "messages_as_kv": _fewest(
            lambda engines: capacity.busy("kv", engines) <= fleet.utilization
        ),
        "encoding": _fewest(lambda engines: capacity.encoding(engines) <= fleet.utilization),
        "talking_on_device": to_hold(fleet.talking, users["device"]),
        "talking_at_hand": to_hold(fleet.talking, capacity.at_hand),
        "all_at_hand": to_hold(fleet.users, capacity.at_hand),
        "all_on_disk": to_hold(fleet.users, users["disk"]),
    }


def _enough(capacity: EngineCapacity, engines: int) -> bool:
    most = capacity.fleet.utilization
    return (
        capacity.fleet.talking <= engines * capacity.at_hand
        and capacity.busy("kv", engines) <= most
        and capacity.encoding(engines) <= most
    )


def _fewest(enough: Callable[[int], bool]) -> int:
    """The smallest number that is enough, where every larger one is too."""
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _ttft(capacity: EngineCapacity) -> dict[str, float | None]:
    rates, memory, tokens = capacity.rates, capacity.memory, capacity.fleet.recalled_tokens
    host = rates.host.at(tokens) if rates.host and memory.host else None
    device, text = rates.kv.at(tokens), rates.text.at(tokens)
    disk = (host or device) + disk_ms(capacity.fleet, capacity.user_bytes) if memory.disk else None
    times = {"text": text, "device": device, "host": host, "disk": disk}
    return {tier: None if ms is None else round(ms, 2) for tier, ms in times.items()}


def disk_ms(fleet: FleetDemand, user_bytes: int) -> float:
    """Milliseconds to read all KV of a user from disk, before anything is injected."""
    return user_bytes / (fleet.disk_gb_per_s * 1e9) * 1000


def _load(capacity: EngineCapacity, arm: str, engines: int) -> Report:
    """Load of one arm on so many engines: busy share, and the mean wait of an M/D/1 queue."""
    busy = capacity.busy(arm, engines)
    each = busy * engines / capacity.fleet.messages_per_s * 1000
    wait = each * busy / (2 * (1 - busy)) if busy < 1 else None
    return {
        "busy_ms": round(each, 2),
        "utilization": round(busy, 4),
        "wait_ms": None if wait is None else round(wait, 2),
    }


def _encoding(capacity: EngineCapacity, engines: int) -> Report:
    """Facts to encode against the rate, and the work that the loss of an engine adds.

    Its users go to the other engines; with one engine, to itself when it is back.
    """
    fleet, rate = capacity.fleet, capacity.facts_per_s
    at_hand = min(capacity.at_hand, fleet.users / engines)
    talking = min(fleet.talking / engines, at_hand)
    lost = {"talking": talking * fleet.facts, "at_hand": at_hand * fleet.facts}
    others = max(1, engines - 1)
    return {
        "to_encode_per_s": {n: round(v, 2) for n, v in capacity.to_encode_per_s(engines).items()},
        "facts_per_s": {name: round(each, 1) for name, each in rate.items()},
        "utilization": round(capacity.encoding(engines), 4),
        "a_user_s": {name: round(fleet.facts / each, 3) for name, each in rate.items()},
        "after_loss_s": {
            what: {name: round(facts / each / others, 2) for name, each in rate.items()}
            for what, facts in lost.items()
        },
    }
