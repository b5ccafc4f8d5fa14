"""How fast facts are encoded, and what a chat notices of it.

A run of facts is encoded in one prefill behind the facts before it, and several runs are in
flight. Each time the facts belong to a new owner, so nothing comes from the prefix cache, and
are dropped afterwards.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from time import perf_counter
from typing import Any

from app.bench.asking import ask, require_injected
from app.bench.material import Material
from app.bench.plan import Bench
from app.figures import Spread, distribution, spread
from memory_engine.engines.base import EncodeJob, Engine
from memory_engine.errors import EngineError
from memory_engine.types import Mode, Prompt

WINDOW = 8
ROUNDS = 2
_ALONE = 10  # facts that are encoded one by one


class _Encoders:
    """`clients` at a time take runs and have them encoded; counts the facts."""

    def __init__(self, engine: Engine, clients: int) -> None:
        self._engine = engine
        self._clients = clients
        self.facts = 0

    async def work_off(self, jobs: Iterator[EncodeJob], *, drop: bool) -> None:
        """Until there are none; `drop` forgets each run's owner at once, to need no room."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(self._clients):
                    tasks.create_task(self._client(jobs, drop))
        except ExceptionGroup as group:
            # The first failure says what the others would say again.
            raise group.exceptions[0] from group

    async def _client(self, jobs: Iterator[EncodeJob], drop: bool) -> None:
        for job in jobs:
            kept = await self._engine.encode(job)
            if len(kept) != len(job.spans):
                raise EngineError("The arena has no room for the facts that are encoded.")
            self.facts += len(job.spans) - 1  # the prefix is none
            if drop:
                await self._engine.drop(job.owner)
            # The chat gets its turn whatever the engine does.
            await asyncio.sleep(0)


async def measure_encoding(
    engine: Engine,
    bench: Bench,
    material: Material,
    chat: Prompt,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Facts a second, and the time to first token of `chat` without and with encoding.

    material: facts to encode. chat: a prompt whose segments are resident.
    """
    progress("Encoding facts one by one")
    alone = await _alone(engine, material)
    rates = []
    for clients in bench.encode_in_flight:
        progress(f"Encoding {len(material.facts)} facts, {clients} runs in flight")
        rates.append(await _rate(engine, material, bench.encode_run, clients))
    chats = []
    for clients in bench.encode_in_flight:
        progress(f"A chat while facts are encoded, {clients} runs in flight")
        chats.append(await _chat(engine, bench, material, chat, clients))
    return {
        "facts": len(material.facts),
        "fact_tokens": len(material.facts[0]),
        "facts_a_run": bench.encode_run,
        "window_facts": WINDOW,
        "alone_ms_per_fact": alone,
        "rates": rates,
        "chat_while_encoding": chats,
    }


async def _alone(engine: Engine, material: Material) -> Spread:
    """Milliseconds of encoding one fact behind its window, nothing else going on."""
    times = []
    owned = material.owned_by("bench-alone")
    for job in owned.runs(WINDOW, 1)[: _ALONE + 1]:
        started = perf_counter()
        await engine.encode(job)
        times.append((perf_counter() - started) * 1000)
    await engine.drop(owned.owner)
    return spread(times[1:] or times)


async def _rate(engine: Engine, material: Material, size: int, clients: int) -> dict[str, Any]:
    seconds = []
    for number in range(ROUNDS + 1):
        owned = material.owned_by(f"bench-rate-{clients}-{number}")
        runs = owned.runs(WINDOW, size)
        if number == 0:  # the warm-up
            runs = runs[:clients]
        started = perf_counter()
        await _Encoders(engine, clients).work_off(iter(runs), drop=False)
        seconds.append(perf_counter() - started)
        await engine.drop(owned.owner)
    rates = [len(material.facts) / each for each in seconds[1:]]
    return {
        "in_flight": clients,
        "facts_per_s": round(sum(rates) / len(rates), 2),
        "facts_per_s_of_each_round": [round(rate, 2) for rate in rates],
    }


async def _chat(
    engine: Engine, bench: Bench, material: Material, chat: Prompt, clients: int
) -> dict[str, Any]:
    idle, busy = [], []
    facts, seconds = 0, 0.0
    jobs = _endless(material, bench.encode_run, f"bench-chat-{clients}")
    for turn in range(ROUNDS):
        for encoding in (False, True) if turn % 2 == 0 else (True, False):
            if not encoding:
                idle += await _first_tokens(engine, chat, bench.chat_requests)
                continue
            started = perf_counter()
            async with _encoding(engine, jobs, clients) as encoders:
                busy += await _first_tokens(engine, chat, bench.chat_requests)
            seconds += perf_counter() - started
            facts += encoders.facts
    quiet, loud = distribution(idle), distribution(busy)
    return {
        "in_flight": clients,
        "k": len(chat.spans) - 1,
        "n": len(idle),
        "idle_ttft_ms": quiet,
        "encoding_ttft_ms": loud,
        "p99_rise_percent": round(100 * (loud["p99"] / quiet["p99"] - 1), 1),
        "facts_per_s": round(facts / seconds, 2),
    }


@asynccontextmanager
async def _encoding(
    engine: Engine, jobs: Iterator[EncodeJob], clients: int
) -> AsyncIterator[_Encoders]:
    """Encoding goes on while inside; at the end, runs in flight are waited for."""
    stop = asyncio.Event()
    encoders = _Encoders(engine, clients)

    def until_stopped() -> Iterator[EncodeJob]:
        while not stop.is_set():
            yield next(jobs)

    task = asyncio.create_task(encoders.work_off(until_stopped(), drop=True))
    try:
        yield encoders
    finally:
        stop.set()
        await task


def _endless(material: Material, size: int, owner: str) -> Iterator[EncodeJob]:
    for number in count():
        # Runs of one round are dropped one by one, so each has an owner of its own.
        for first in range(0, len(material.facts), size):
            yield material.owned_by(f"{owner}-{number}-{first}").run(first, WINDOW, size)


async def _first_tokens(engine: Engine, prompt: Prompt, requests: int) -> list[float]:
    """Milliseconds to the first token of one request after the other, the first dropped."""
    times = []
    for _ in range(requests + 1):
        reply = await ask(engine, prompt, Mode.KV)
        require_injected(prompt, reply.usage)
        times.append(reply.ttft)
    return times[1:]
