"""Rate of encoding facts, in runs of one prefill each.

A run of facts is encoded in one prefill behind the facts before it, and several runs are in
flight. Each time the facts belong to a new owner, so nothing comes from the prefix cache, and
are dropped afterwards.
"""

import asyncio
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from app.composition import Progress
from app.figures import Spread, spread
from benchmarks.speed.prompt_material import PromptMaterial
from benchmarks.speed.workload import Workload
from memory_engine.engines.base import EncodeJob, Engine
from memory_engine.errors import EngineError

WINDOW = 8
ROUNDS = 2
_ALONE = 10  # facts that are encoded one by one


async def measure_encoding(
    engine: Engine, workload: Workload, material: PromptMaterial, progress: Progress
) -> dict[str, Any]:
    """Measure facts a second: one by one, and in runs with each number of them in flight."""
    progress("Encoding facts one by one")
    alone = await _alone(engine, material)
    rates = []
    for clients in workload.encode_in_flight:
        progress(f"Encoding {len(material.facts)} facts, {clients} runs in flight")
        rates.append(await _rate(engine, material, workload.encode_run, clients))
    return {
        "facts": len(material.facts),
        "fact_tokens": len(material.facts[0]),
        "facts_a_run": workload.encode_run,
        "window_facts": WINDOW,
        "alone_ms_per_fact": alone,
        "rates": rates,
    }


async def _alone(engine: Engine, material: PromptMaterial) -> Spread:
    """Milliseconds of encoding one fact behind its window, nothing else going on."""
    times = []
    owned = material.owned_by("bench-alone")
    for job in owned.runs(WINDOW, 1)[: _ALONE + 1]:
        started = perf_counter()
        await engine.encode(job)
        times.append((perf_counter() - started) * 1000)
    await engine.drop(owned.owner)
    return spread(times[1:] or times)


async def _rate(
    engine: Engine, material: PromptMaterial, size: int, clients: int
) -> dict[str, Any]:
    seconds = []
    for number in range(ROUNDS + 1):
        owned = material.owned_by(f"bench-rate-{clients}-{number}")
        runs = owned.runs(WINDOW, size)
        if number == 0:  # the warm-up
            runs = runs[:clients]
        started = perf_counter()
        await _encode_all(engine, iter(runs), clients)
        seconds.append(perf_counter() - started)
        await engine.drop(owned.owner)
    rates = [len(material.facts) / each for each in seconds[1:]]
    return {
        "in_flight": clients,
        "facts_per_s": round(sum(rates) / len(rates), 2),
        "facts_per_s_of_each_round": [round(rate, 2) for rate in rates],
    }


async def _encode_all(engine: Engine, jobs: Iterator[EncodeJob], clients: int) -> None:
    """`clients` at a time take jobs until there are none."""

    async def client() -> None:
        for job in jobs:
            kept = await engine.encode(job)
            if len(kept) != len(job.spans):
                raise EngineError("The arena has no room for the facts that are encoded.")

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(clients):
                tasks.create_task(client())
    except ExceptionGroup as group:
        # The first failure says what the others would say again.
        raise group.exceptions[0] from group
