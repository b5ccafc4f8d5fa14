"""One run over a machine: users of a scenario, and a check of the fleet's memory afterwards."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from contextlib import AsyncExitStack
from time import monotonic
from types import TracebackType
from typing import Self

import httpx
import openai
import psycopg

from tests.fleet.fake_user import Person
from tests.fleet.fleet_server import Machine
from tests.fleet.secret_words import SecretWords
from tests.fleet.user_journal import Journal

# What a killed process left is taken over within two minutes.
REMEMBERED_S = 150.0
STORED = "SELECT owner, text FROM turns JOIN conversations c ON c.id = conversation_id"


class Run:
    """The machine, lines to its apps, and the words that have been given out.

    `apis` are the lines to the two apps of the fleet, `alone` the one to the third.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._words = SecretWords()
        self._users = 0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        apis = []
        for url in self.machine.urls:
            # Whoever wants to send again does so, and is counted.
            api = openai.AsyncOpenAI(
                base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=180.0
            )
            apis.append(await self._stack.enter_async_context(api))
        self.apis, self.alone = apis[:2], apis[2:]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def people(self, count: int, journal: Journal) -> list[Person]:
        """New users; every other one comes to the second app first."""
        first = self._users
        self._users += count
        return [
            Person(f"user {n}", self.apis[:: 1 if n % 2 else -1], self._words, journal)
            for n in range(first, self._users)
        ]

    async def settle(self, journal: Journal, app: int = 0) -> float:
        """Wait until this app knows every acknowledged fact; returns for how many seconds."""
        began = monotonic()
        waiting = {user: list(words) for user, words in journal.facts.items()}
        while waiting and monotonic() - began < REMEMBERED_S:
            known = await self._known(waiting, app)
            waiting = {
                user: left
                for user, words in waiting.items()
                if (left := [word for word in words if word not in " ".join(known[user])])
            }
            if waiting:
                await asyncio.sleep(1)
        return monotonic() - began

    async def check(self, journal: Journal) -> None:
        """Compare acknowledged turns and facts with those in the database and both apps."""
        stored = await asyncio.to_thread(self._stored)
        journal.compare_turns(stored)
        for app in range(len(self.apis)):
            known = await self._known(journal.facts, app)
            journal.compare_facts(known)
            for user, texts in known.items():
                for text in texts:
                    foreign = self._words.of_others(text, user)
                    journal.foreign += [f"{user} has {word}" for word in foreign]

    async def _known(self, users: Iterable[str], app: int) -> dict[str, list[str]]:
        """The texts of the facts that an app lists, by user."""
        found = {}
        url = f"{self.machine.urls[app]}/v1/memories"
        async with httpx.AsyncClient(timeout=60.0) as http:
            for user in users:
                answer = await http.get(url, params={"user": user, "limit": 1000})
                answer.raise_for_status()
                found[user] = [fact["text"] for fact in answer.json()["data"]]
        return found

    def _stored(self) -> dict[str, list[str]]:
        """The texts of all turns in the database, by user."""
        found: dict[str, list[str]] = defaultdict(list)
        home = str(self.machine.postgres.home)
        with psycopg.connect(host=home, user="inferscale", dbname="fleet") as connection:
            for owner, text in connection.execute(STORED):
                found[owner].append(text)
        return found
