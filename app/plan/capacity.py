"""What a fleet needs, computed: bytes, engines, encoding, and time to the first token."""

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from app.plan.fleet import Fleet
from app.plan.rates import Rates
from app.plan.shape import Shape
from memory_engine.engines.memory_budget import GPU_SHARE
from memory_engine.errors import SettingsError

Report = dict[str, Any]

GIB = 1 << 30
_ONE_AT_A_TIME = 1
_HOST_SHARE = 0.5  # of the memory of the measured machine, where nothing else is said


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one engine: weights, vLLM's cache for running requests, and KV of facts."""

    weights: int
    cache: int
    device: int
    host: int
    disk: int


def memory_of(fleet: Fleet, shape: Shape, rates: Rates) -> Memory:
    """What an engine has for facts. Raises SettingsError if the model does not fit."""
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
    return Memory(shape.weight_bytes, cache, device, host, int(fleet.disk_gib * GIB))


def plan(fleet: Fleet, shape: Shape, rates: Rates) -> Report:
    """All of it as plain values, ready for `json.dumps`. Bytes, ms, seconds as named."""
    memory = memory_of(fleet, shape, rates)
    a_fact = fleet.tokens * shape.token_bytes(fleet.store)
    a_user = fleet.facts * a_fact
    users = {tier: getattr(memory, tier) // a_user for tier in ("device", "host", "disk")}
    needed = _engines_needed(fleet, rates, users)
    engines = fleet.engines or needed["kv"]
    return {
        "model": shape.name,
        "rates": {
            "hardware": rates.hardware,
            "model": rates.model,
            "tensor_parallel": rates.tensor_parallel,
            "estimate": rates.estimate,
            "load_measured": rates.load is not None,
            "beyond_measured": not rates.text.covers(fleet.recalled_tokens),
        },
        "fleet": asdict(fleet),
        "bytes": {
            "a_token": shape.token_bytes(fleet.store),
            "a_fact": a_fact,
            "a_user": a_user,
            "fleet": a_user * fleet.users,
        },
        "engine": {"bytes": asdict(memory), "users": users},
        "ttft_ms": _ttft(fleet, rates, memory, a_user),
        "engines_needed": needed,
        "engines": engines,
        "load": {
            "messages_per_s": round(fleet.messages_per_s, 3),
            "talking": round(fleet.talking, 1),
            "arms": {arm: _load(fleet, rates, arm, engines) for arm in ("text", "kv")},
        },
        "encoding": _encoding(fleet, rates, users, engines),
    }


def _engines_needed(fleet: Fleet, rates: Rates, users: dict[str, int]) -> dict[str, Any]:
    """For each demand alone; `kv` and `text` are the most of those that they have."""

    def for_rate(arm: str) -> int:
        busy = rates.busy_ms(arm, fleet.recalled_tokens, fleet.reply_tokens) / 1000
        return ceil(fleet.messages_per_s * busy / fleet.utilization)

    def to_hold(wanted: float, held: int) -> int | None:
        return ceil(wanted / held) if held else None

    at_hand = max(users["device"], users["host"])
    encode = ceil(_learnt(fleet) / _encode(rates, fleet)["beside_chat"] / fleet.utilization)
    needed = {
        "messages_as_text": for_rate("text"),
        "messages_as_kv": for_rate("kv"),
        "talking_on_device": to_hold(fleet.talking, users["device"]),
        "talking_at_hand": to_hold(fleet.talking, at_hand),
        "all_at_hand": to_hold(fleet.users, at_hand),
        "all_on_disk": to_hold(fleet.users, users["disk"]),
        "encoding": encode,
    }
    if needed["talking_at_hand"] is None:
        raise SettingsError("An engine does not hold one user's facts: raise --arena-gib.")
    for_kv = (needed["messages_as_kv"], needed["talking_at_hand"], encode)
    return needed | {"text": needed["messages_as_text"], "kv": max(filter(None, for_kv))}


def _ttft(fleet: Fleet, rates: Rates, memory: Memory, a_user: int) -> dict[str, float | None]:
    tokens = fleet.recalled_tokens
    host = rates.host.at(tokens) if rates.host and memory.host else None
    behind = host or rates.kv.at(tokens)
    disk = behind + disk_ms(fleet, a_user) if memory.disk else None
    device, text = rates.kv.at(tokens), rates.text.at(tokens)
    times = {"text": text, "device": device, "host": host, "disk": disk}
    return {tier: None if ms is None else round(ms, 2) for tier, ms in times.items()}


def disk_ms(fleet: Fleet, a_user: int) -> float:
    """Reading all KV of a user from disk, before anything is injected."""
    return a_user / (fleet.disk_gb_per_s * 1e9) * 1000


def _load(fleet: Fleet, rates: Rates, arm: str, engines: int) -> Report:
    """One arm on so many engines: how busy each is, and the mean wait of an M/D/1 queue."""
    busy = rates.busy_ms(arm, fleet.recalled_tokens, fleet.reply_tokens)
    utilization = fleet.messages_per_s * busy / 1000 / engines
    wait = busy * utilization / (2 * (1 - utilization)) if utilization < 1 else None
    return {
        "busy_ms": round(busy, 2),
        "utilization": round(utilization, 4),
        "wait_ms": None if wait is None else round(wait, 2),
    }


def _learnt(fleet: Fleet) -> float:
    return fleet.messages_per_s * fleet.learnt


def _encode(rates: Rates, fleet: Fleet) -> dict[str, float]:
    """Facts a second of this fleet's length: a fact costs about its own tokens."""
    length = rates.fact_tokens / fleet.tokens
    return {"alone": rates.encode * length, "beside_chat": rates.encode_beside_chat * length}


def _encoding(fleet: Fleet, rates: Rates, users: dict[str, int], engines: int) -> Report:
    """New facts against the rate, and what the loss of an engine leaves to encode again.

    Its users go to the other engines; with one engine, to itself when it is back.
    """
    rate = _encode(rates, fleet)
    others = max(1, engines - 1)
    at_hand = min(max(users["device"], users["host"]), fleet.users / engines)
    talking = min(fleet.talking / engines, at_hand)
    new = _learnt(fleet)
    return {
        "new_facts_per_s": round(new, 3),
        "facts_per_s": {name: round(each, 1) for name, each in rate.items()},
        "utilization": round(new / engines / rate["beside_chat"], 4),
        "a_user_s": {name: round(fleet.facts / each, 3) for name, each in rate.items()},
        "after_loss_s": {
            what: {
                name: round(lost * fleet.facts / each / others, 2) for name, each in rate.items()
            }
            for what, lost in (("talking", talking), ("at_hand", at_hand))
        },
    }
