"""Background encoding: makes the wanted segments resident, drops the unwanted."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence

from memory_engine.encoding.admission import Admission
from memory_engine.encoding.windows import EncodeJobs, FactSegment
from memory_engine.engines.base import Engine
from memory_engine.errors import EngineError

_log = logging.getLogger(__name__)
# Prefills at once on a GPU. More are a little faster (DECISIONS.md), and whoever begins to chat
# waits for the step that they share.
_IN_FLIGHT = 4
_FACTS_A_BATCH = 256
# Of a window, in a prefill while people chat: a block of vLLM's on a GPU, or several.
_LEAD_IN_TOKENS = 128
# Engines that a user may be sent to while one's facts are encoded; more is no affinity.
_MOST_HOMES = 8


class _Work:
    """One owner's wishes against what the engine is believed to hold."""

    def __init__(self) -> None:
        self.wanted: dict[str, FactSegment] = {}
        # What `home`, a place of the engine's, is believed to hold.
        self.home = ""
        self.resident: set[str] = set()
        self.unwanted: set[str] = set()
        # Segments the arena had no room for; tried again when the wishes change.
        self.rejected: set[str] = set()
        self.task: asyncio.Task[None] | None = None
        self.prefetch: asyncio.Task[None] | None = None
        # Whether what a snapshot holds was asked for; from then on there may be more to keep.
        self.restored = False
        self.changed = False

    def begun(self) -> set[int]:
        """Runs of which a segment is resident."""
        return {segment.run for i, segment in self.wanted.items() if i in self.resident}

    def wants_any(self, segments: Iterable[FactSegment]) -> bool:
        return any(segment.segment_id in self.wanted for segment in segments)

    def missing(self) -> list[FactSegment]:
        away = self.resident | self.rejected
        return [segment for i, segment in self.wanted.items() if i not in away]


class EncodingQueue:
    """Works off every owner's differences, one task an owner while there are any.

    What is resident is a belief, corrected by `lost`: the engine may evict at any time, and
    an engine of several may be another one than before.
    """

    def __init__(self, engine: Engine, planner: EncodeJobs) -> None:
        self._engine = engine
        self._planner = planner
        self._work: dict[str, _Work] = {}
        # By home: a reply of one engine needs no room on another.
        self._turns: dict[str, Admission] = {}

    def want(self, owner: str, segments: Iterable[FactSegment]) -> None:
        """Make `segments` all that is wanted of `owner`; starts the work."""
        work = self._work.setdefault(owner, _Work())
        supported = self._engine.conformance.supported
        wanted = {segment.segment_id: segment for segment in segments} if supported else {}
        work.unwanted |= work.wanted.keys() - wanted.keys()
        work.unwanted -= wanted.keys()
        work.resident -= work.unwanted
        work.wanted, work.rejected = wanted, set()
        self._start(owner, work)

    def lost(self, owner: str, segment_ids: Collection[str]) -> None:
        """Take note that the engine lacks these; those still wanted are encoded again."""
        work = self._work.get(owner)
        if work is None:
            return
        self._follow(owner, work)
        work.resident.difference_update(segment_ids)
        if self._planner.prefix_id(owner) in segment_ids and work.wanted:
            # Every job carries the prefix: one fact encoded again brings it back.
            work.resident.discard(next(iter(work.wanted)))
        self._start(owner, work)

    def message(self, owner: str) -> None:
        """Make room for the reply that follows a message: see `Admission.message`."""
        self._turns_of(owner).message(owner)

    def reply(self, owner: str) -> Callable[[], None]:
        """Make room for a reply until the result is called: see `Admission.reply`."""
        return self._turns_of(owner).reply(owner)

    def prefetch(self, owner: str) -> None:
        """Bring the owner's segments back from host memory, while the caller does other things."""
        work = self._work.get(owner)
        if self._engine.info.host_tokens and work is not None and work.prefetch is None:
            work.prefetch = asyncio.create_task(self._prefetch(owner, work))

    def resident(self, owner: str) -> Collection[str]:
        """Segment ids believed to be resident."""
        return self._work[owner].resident if owner in self._work else ()

    async def settle(self, owner: str | None = None) -> None:
        """Wait until nothing is left to do; raises what a task failed with."""
        works = self._work.values() if owner is None else [self._work.get(owner)]
        for work in list(works):
            while work is not None and work.task is not None:
                await asyncio.shield(work.task)

    async def forget(self, owner: str) -> None:
        """Drop all that the engine has of `owner`, on every tier and on disk."""
        self.want(owner, ())
        try:
            await self.settle(owner)
        finally:
            work = self._work.pop(owner)
            if work.prefetch is not None:
                work.prefetch.cancel()
            await self._engine.drop(owner)

    async def astray(self, owner: str) -> list[str]:
        """Ids of the engine's segments of `owner` that are not wanted."""
        wanted = self._work[owner].wanted.keys() if owner in self._work else set()
        held = set(await self._engine.owned(owner))
        return sorted(held - wanted - {self._planner.prefix_id(owner)})

    async def aclose(self) -> None:
        """Stop and write snapshots; what is not encoded yet is encoded after the next start."""
        running = [task for work in self._work.values() for task in (work.task, work.prefetch)]
        tasks = [task for task in running if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for owner, work in self._work.items():
            await self._snapshot(owner, work)

    async def _snapshot(self, owner: str, work: _Work) -> None:
        try:
            if work.unwanted:
                # What is to be dropped must not be written, and is in an older snapshot.
                await self._engine.drop(owner, sorted(work.unwanted))
            if work.changed and work.wanted:
                await self._engine.snapshot(owner)
        except EngineError:
            _log.warning("The KV of facts could not be kept on disk.", exc_info=True)

    def _start(self, owner: str, work: _Work) -> None:
        # Also with nothing wanted: a snapshot may hold what was forgotten since.
        if work.task is None and (not work.restored or work.unwanted or work.missing()):
            work.task = asyncio.create_task(self._run(owner, work))
            work.task.add_done_callback(_log_failure)

    async def _run(self, owner: str, work: _Work) -> None:
        homes = 0
        try:
            while not work.restored or work.unwanted or work.missing():
                if not work.restored:
                    homes += 1
                    if homes > _MOST_HOMES:
                        raise EngineError(
                            "A user's requests reach another engine each time. Start the router "
                            "with --policy consistent_hash."
                        )
                    await self._restore(owner, work)
                if unwanted := set(work.unwanted):
                    await self._engine.drop(owner, sorted(unwanted))
                    # Only now: a drop that failed is still to be done.
                    work.unwanted -= unwanted
                batch = work.missing()[:_FACTS_A_BATCH]
                await self._encode_all(owner, work, self._planner.runs(batch))
        finally:
            work.task = None

    async def _prefetch(self, owner: str, work: _Work) -> None:
        try:
            await self._engine.prefetch(owner)
        except EngineError:
            # The reply that follows says what is wrong with the engine.
            _log.debug("KV was not brought back from host memory.", exc_info=True)
        finally:
            work.prefetch = None

    async def _restore(self, owner: str, work: _Work) -> None:
        if not self._engine.conformance.supported:
            # Whatever an earlier model left on disk would not be kept in step.
            await self._engine.drop(owner)
            work.restored = True
            return
        held = set(await self._engine.restore(owner))
        self._follow(owner, work)
        work.restored = True
        work.resident |= held & work.wanted.keys()
        stale = held - work.wanted.keys() - {self._planner.prefix_id(owner)}
        work.unwanted |= stale
        work.changed = bool(stale)

    async def _encode_all(
        self, owner: str, work: _Work, runs: Sequence[Sequence[FactSegment]]
    ) -> None:
        begun = work.begun()
        try:
            async with asyncio.TaskGroup() as tasks:
                for run in runs:
                    # What a run that has begun is encoded behind was computed for it before.
                    lead_in = run[0].run not in begun
                    tasks.create_task(self._encode(owner, work, run, lead_in=lead_in))
        except ExceptionGroup as group:
            # The first failure says what the others would say again.
            raise group.exceptions[0] from group

    async def _encode(
        self, owner: str, work: _Work, run: Sequence[FactSegment], *, lead_in: bool
    ) -> None:
        """Encode a run, in parts while people chat."""
        if lead_in:
            await self._lead_in(owner, work, run)
        while run:
            async with self._turns_of(owner).encode() as most:
                part, run = run[:most], run[len(run) if most is None else most :]
                if work.wants_any(part):
                    saved = await self._engine.encode(self._planner.job(owner, part))
                    self._take_in(owner, work, part, set(saved))

    async def _lead_in(self, owner: str, work: _Work, run: Sequence[FactSegment]) -> None:
        """While people chat, what a run is encoded behind is computed in parts too, before it."""
        turns = self._turns_of(owner)
        for job in self._planner.lead_in(owner, run[0], _LEAD_IN_TOKENS):
            if turns.chatting:
                async with turns.encode():
                    if work.wants_any(run):
                        await self._engine.encode(job)

    def _follow(self, owner: str, work: _Work) -> None:
        """Begin anew with what is believed, if it is about another place than `home` now."""
        home = self._engine.home(owner)
        if work.home and home != work.home:
            work.resident, work.rejected, work.restored = set(), set(), False
        work.home = home

    def _turns_of(self, owner: str) -> Admission:
        home = self._engine.home(owner)
        if home not in self._turns:
            on_cpu = self._engine.info.device == "cpu"
            self._turns[home] = Admission(1 if on_cpu else _IN_FLIGHT)
        return self._turns[home]

    def _take_in(
        self, owner: str, work: _Work, part: Sequence[FactSegment], saved: set[str]
    ) -> None:
        self._follow(owner, work)
        for segment_id in (segment.segment_id for segment in part):
            if segment_id not in saved:
                work.rejected.add(segment_id)
                _log.warning("The KV arena has no room for a fact; it is sent as text.")
            elif segment_id in work.wanted:
                work.resident.add(segment_id)
                work.changed = True
            else:
                work.unwanted.add(segment_id)


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error("Encoding facts failed; they are sent as text.", exc_info=task.exception())
