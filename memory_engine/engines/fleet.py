"""Fleet: several `vllm serve` behind vLLM's router, as one engine.

Whatever concerns one user goes through the router, which sends it to the user's engine by a
hash of the user; which engine that was, each answer says. Forgetting, counts and checks go
to every engine directly. A user's KV is in the memory of one engine, and is a cache: whoever
is sent to another engine is served as text there, and encoded there in the background.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from memory_engine.engines.base import ArenaStats, EncodeJob, Engine
from memory_engine.engines.fleet_member import Member
from memory_engine.engines.remote import RemoteEngine
from memory_engine.errors import EngineError, EngineStoppedError
from memory_engine.types import Chunk, Mode, Prompt, Sampling

_log = logging.getLogger(__name__)
# A router needs a few seconds to notice that an engine is gone.
_PAUSES = (0.1, 0.4, 1.0, 2.0, 4.0)


class Fleet(Engine):
    """The engines that share users, over the router that shares them out.

    engines: direct lines, of which at least one has to answer at the start; the others join
    when they do. router: the line to the router, or a second one to the only engine. The
    fleet owns them all. interval: seconds between looks at every engine. pauses: seconds
    before each further try of what an engine did not begin to answer.
    """

    def __init__(
        self,
        engines: Sequence[RemoteEngine],
        router: RemoteEngine,
        *,
        interval: float = 2.0,
        pauses: Sequence[float] = _PAUSES,
    ) -> None:
        self._members = [Member(engine) for engine in engines]
        self._router = router
        self._interval = interval
        self._pauses = pauses
        self._reference: RemoteEngine | None = None
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Find the engines that run, check them, and keep watching all of them.

        Raises EngineError when none can be used, or the router does not answer.
        """
        failures = await self._check_members(closely=True)
        first = next((member for member in self._members if member.up), None)
        if first is None:
            urls = ", ".join(member.engine.url for member in self._members)
            raise next(iter(failures), EngineStoppedError(f"No engine answers at {urls}."))
        if not await self._router.healthy():
            raise EngineStoppedError(f"The router at {self._router.url} does not answer.")
        self._reference, self.conformance = first.engine, first.engine.conformance
        await self._check_members(closely=True)
        self._watch = asyncio.create_task(self._keep_watching())

    async def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        for pause in (*self._pauses, None):
            begun = False
            try:
                async with aclosing(self._router.generate(prompt, mode, sampling)) as chunks:
                    async for chunk in chunks:
                        begun = True
                        yield chunk
                return
            except EngineStoppedError as error:
                _log.warning("A reply broke: %s", error)
                if begun:
                    raise EngineStoppedError(
                        "The engine stopped in the middle of the reply. What it said so far is "
                        "kept; ask again for all of it."
                    ) from error
                if pause is None:
                    raise EngineStoppedError(
                        "No engine answers now. Send the message again in a minute."
                    ) from error
                await asyncio.sleep(pause)

    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        for pause in self._pauses:
            try:
                return await self._router.encode(job)
            except EngineStoppedError:
                await asyncio.sleep(pause)
            except EngineError:
                # An engine that has just started refuses until it is checked.
                await self._check_members(closely=True)
                break
        return await self._router.encode(job)

    async def drop(self, owner: str, segment_ids: Sequence[str] | None = None) -> int:
        """Forget these segments on every engine: on those that do not answer, once they do."""
        return sum(await asyncio.gather(*(m.drop(owner, segment_ids) for m in self._members)))

    async def demote(self, owner: str) -> int:
        return await self._router.demote(owner)

    async def prefetch(self, owner: str) -> int:
        return await self._router.prefetch(owner)

    async def snapshot(self, owner: str) -> None:
        await self._router.snapshot(owner)

    async def restore(self, owner: str) -> tuple[str, ...]:
        return await self._router.restore(owner)

    async def owned(self, owner: str) -> tuple[str, ...]:
        """The ids on all engines. Raises EngineStoppedError when one of them cannot tell."""
        held = await asyncio.gather(*(member.engine.owned(owner) for member in self._members))
        return tuple(sorted({i for ids in held for i in ids}))

    async def on_host(self, owner: str) -> frozenset[str]:
        return await self._router.on_host(owner)

    def home(self, owner: str) -> str:
        return self._router.home(owner)

    async def arena(self) -> ArenaStats:
        """The sum over the engines that answer."""
        total = ArenaStats(0, 0, 0)
        for member in self._members:
            if member.up:
                try:
                    total = _added(total, await member.engine.arena())
                except EngineStoppedError:
                    member.stopped()
        return total

    async def aclose(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        for engine in (self._router, *(member.engine for member in self._members)):
            await engine.aclose()

    async def _keep_watching(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            await self._check_members()

    async def _check_members(self, *, closely: bool = False) -> list[EngineError]:
        checks = (member.check(self._reference, closely=closely) for member in self._members)
        found = await asyncio.gather(*checks)
        if self._reference is not None:
            self._add_up(self._reference)
        return [error for error in found if error is not None]

    def _add_up(self, reference: RemoteEngine) -> None:
        """Sum up the capacity of the engines that are up."""
        infos = [member.engine.info for member in self._members if member.up]
        self.info = replace(
            reference.info,
            arena_tokens=sum(info.arena_tokens for info in infos),
            host_tokens=sum(info.host_tokens for info in infos),
        )
        self._router.adopt(reference)


def _added(a: ArenaStats, b: ArenaStats) -> ArenaStats:
    names = ArenaStats.__dataclass_fields__
    return ArenaStats(**{name: getattr(a, name) + getattr(b, name) for name in names})
