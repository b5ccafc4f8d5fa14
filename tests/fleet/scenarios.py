"""The failures, one after the other; each fills a journal of its own."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fleet.fake_user import Person
from tests.fleet.fleet_run import Run
from tests.fleet.program_server import Program
from tests.fleet.user_journal import Journal

LONG = 300  # tokens of a reply that something happens to
DOWN_S = 5.0
COMPARED = 10  # users of a crowd whose replies are compared


@dataclass(frozen=True, slots=True)
class FailureScenario:
    """A failure of the fleet, and whether users may see connections break.

    `play` returns seconds worth telling, by name.
    """

    name: str
    play: Callable[[Run, Journal, int], Awaitable[dict[str, float]]]
    breaks: bool = False
    crowd: bool = False


async def steady(run: Run, journal: Journal, users: int) -> dict[str, float]:
    """Facts told to one app are known to the other."""
    people = run.people(users, journal)
    for _ in range(3):
        await _all(person.tell(0) for person in people)
    await _all(person.ask(1) for person in people)
    return await _end(run, journal, people)


async def engine_killed(run: Run, journal: Journal, users: int) -> dict[str, float]:
    """kill -9 of an engine in the middle of replies; users chat until it is back."""
    people = run.people(users, journal)
    await _all(person.tell() for person in people)
    began = _after(users // 2, people)
    talking = asyncio.create_task(_all(person.ask(tokens=LONG) for person in people))
    await asyncio.wait((talking, began), return_when=asyncio.FIRST_COMPLETED)
    engine = run.machine.engines[1]
    await engine.kill()
    back = asyncio.create_task(_back(engine))
    await asyncio.gather(talking, _chat_until(back, people))
    return {"engine_back_s": await back} | await _end(run, journal, people)


async def app_killed(run: Run, journal: Journal, users: int) -> dict[str, float]:
    """kill -9 of an app while it remembers; the other one knows what was acknowledged."""
    people = run.people(users, journal)
    for person in people:
        person.apps = run.apis
    began = _after(users // 2, people)
    telling = asyncio.create_task(_all(_tell_some(person, 3) for person in people))
    await asyncio.wait((telling, began), return_when=asyncio.FIRST_COMPLETED)
    await run.machine.apps[0].kill()
    await telling
    known = await run.settle(journal, app=1)
    back = await _back(run.machine.apps[0])
    return {"known_to_the_other_s": known, "app_back_s": back} | await _end(run, journal, people)


async def database_killed(run: Run, journal: Journal, users: int) -> dict[str, float]:
    """kill -9 of PostgreSQL while users chat, then once more in good order."""
    people = run.people(users, journal)
    server = run.machine.postgres
    await _all(person.tell() for person in people)

    async def down(end: Callable[[], None]) -> float:
        await asyncio.to_thread(end)
        await asyncio.sleep(DOWN_S)
        await asyncio.to_thread(server.start)
        return DOWN_S

    for end in (server.kill, server.stop):
        began = _after(users // 2, people)
        talking = asyncio.create_task(_all(person.tell(1) for person in people))
        await asyncio.wait((talking, began), return_when=asyncio.FIRST_COMPLETED)
        back = asyncio.create_task(down(end))
        await asyncio.gather(talking, _chat_until(back, people))
    return await _end(run, journal, people)


async def engines_emptied(run: Run, journal: Journal, users: int) -> dict[str, float]:
    """Both engines restart, and have nothing in memory: text at first, then KV again."""
    people = run.people(users, journal)
    for _ in range(2):
        await _all(person.tell() for person in people)
    await _all(person.compare() for person in people)
    engines = run.machine.engines
    await _all(engine.stop() for engine in engines)
    back = await asyncio.gather(*map(_back, engines))
    await _all(person.ask(1) for person in people)
    return {"engine_back_s": max(back)} | await _end(run, journal, people)


async def snapshots_poisoned(run: Run, journal: Journal, users: int) -> dict[str, float]:
    """KV on the disk of an app with an engine of its own is changed while it is stopped.

    Of every other user a bit is changed; the others get one another's files.
    """
    people, alone = run.people(users, journal), run.machine.alone
    for person in people:
        person.apps = run.alone
    await _back(alone)
    for _ in range(2):
        await _all(person.tell() for person in people)
    await _all(person.compare() for person in people)
    await alone.stop()
    poisoned = await asyncio.to_thread(_poison, run.machine.snapshots)
    back = await _back(alone)
    await _all(person.ask() for person in people)
    seconds = await _end(run, journal, people)
    await alone.stop()
    return {"poisoned": poisoned, "app_back_s": back} | seconds


def _poison(folder: Path) -> int:
    """Change all snapshots; returns how many."""
    files = sorted(folder.glob("*.safetensors"))
    contents = [bytearray(file.read_bytes()) for file in files]
    for content in contents[::2]:
        content[-len(content) // 4] ^= 0x40
    swapped = contents[1::2]
    contents[1::2] = swapped[1:] + swapped[:1]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    return len(files)


async def crowd(run: Run, journal: Journal, users: int) -> dict[str, float]:
    """Many users chat while an engine is killed and starts again."""
    people = run.people(users, journal)
    pace = random.Random(5)
    began = _after(users // 2, people)

    async def live(person: Person) -> None:
        await asyncio.sleep(pace.uniform(0, 10))
        await person.tell()
        await asyncio.sleep(pace.uniform(0, 10))
        await person.ask(1)
        await asyncio.sleep(pace.uniform(0, 10))
        await person.tell(1)

    living = asyncio.create_task(_all(live(person) for person in people))
    await asyncio.wait((living, began), return_when=asyncio.FIRST_COMPLETED)
    engine = run.machine.engines[0]
    await engine.kill()
    back = asyncio.create_task(_back(engine))
    await living
    await _chat_until(back, people, pause_s=10)
    return {"engine_back_s": await back} | await _end(run, journal, people[:COMPARED])


SCENARIOS = {
    "steady": FailureScenario("nothing fails", steady),
    "engine": FailureScenario("an engine is killed mid-stream", engine_killed),
    "app": FailureScenario("an app is killed mid-remember", app_killed, breaks=True),
    "database": FailureScenario("PostgreSQL is killed, then stopped", database_killed),
    "emptied": FailureScenario("both engines restart empty", engines_emptied),
    "snapshots": FailureScenario("snapshots on disk are poisoned", snapshots_poisoned),
    "crowd": FailureScenario("an engine is killed under a crowd", crowd, crowd=True),
}


async def _end(run: Run, journal: Journal, people: Sequence[Person]) -> dict[str, float]:
    """Wait until all is remembered; compare replies as KV and as text, then what is stored."""
    waited = await run.settle(journal)
    await _all(person.compare(number) for number, person in enumerate(people))
    await run.check(journal)
    return {"remembered_s": waited}


async def _tell_some(person: Person, count: int) -> None:
    for _ in range(count):
        await person.tell()


async def _chat_until(
    back: "asyncio.Task[float]", people: Sequence[Person], pause_s: float = 1.0
) -> None:
    """Chat on until something is back, and once more."""
    while not back.done():
        await _all(person.ask(number) for number, person in enumerate(people))
        await asyncio.wait((back,), timeout=pause_s)
    await _all(person.ask(number) for number, person in enumerate(people))


async def _back(program: Program) -> float:
    """Start a program again; the seconds until it is ready."""
    await program.start()
    return await program.ready()


def _after(count: int, people: Iterable[Person]) -> "asyncio.Task[bool]":
    """Done when so many replies have their first word."""
    event, seen = asyncio.Event(), []

    def first() -> None:
        seen.append(1)
        if len(seen) >= count:
            event.set()

    for person in people:
        person.first = first
    return asyncio.create_task(event.wait())


async def _all(work: Iterable[Awaitable[Any]]) -> None:
    """Do all at once; the first error ends the others."""
    async with asyncio.TaskGroup() as group:
        for each in work:
            group.create_task(_awaited(each))


async def _awaited(work: Awaitable[Any]) -> None:
    await work
