"""Member of a fleet: one engine, whether it runs, and the drops postponed until it does."""

import asyncio
import logging
from collections.abc import Sequence

from memory_engine.engines.base import Engine
from memory_engine.engines.remote import RemoteEngine
from memory_engine.errors import EngineError, EngineStoppedError

_log = logging.getLogger(__name__)


class Member:
    """Wraps the direct line to one engine; other requests go through the router.

    `up` is whether it may be used.
    """

    def __init__(self, engine: RemoteEngine) -> None:
        self.engine = engine
        self.up = False
        self._start = ""
        self._refusal = ""
        self._checking = asyncio.Lock()
        # What was to be dropped while it did not answer, by owner; None is all of the owner's.
        self._postponed: dict[str, set[str] | None] = {}

    async def check(self, reference: Engine | None, *, closely: bool = False) -> EngineError | None:
        """See whether the engine runs; one that was away is checked before it counts as up.

        like: an engine of the fleet, which it has to be reference. closely: ask the engine itself
        and not only its server, for it may have started anew unnoticed. Returns why an engine
        that answers cannot be used.
        """
        if not closely and not await self.engine.healthy():
            self.stopped()
        elif closely or not self.up:
            try:
                # Many callers may find at once that it started anew; one of them checks it.
                async with self._checking:
                    await self._bring_up(reference)
            except EngineStoppedError:
                self.stopped()
            except EngineError as error:
                return self._refused(error)
        return None

    async def drop(self, owner: str, segment_ids: Sequence[str] | None) -> int:
        """Drop now, or once the engine is back."""
        if self.up:
            try:
                return await self.engine.drop(owner, segment_ids)
            except EngineStoppedError:
                self.stopped()
        self._postpone(owner, segment_ids)
        return 0

    def stopped(self) -> None:
        """Note that the engine does not answer."""
        if self.up:
            _log.warning("The engine at %s does not answer.", self.engine.url)
        self.up = False

    async def _bring_up(self, reference: Engine | None) -> None:
        start = str((await self.engine.fetch_description())["start"])
        if start != self._start:
            await self.engine.inspect()
            self._start = start
        if reference is not None:
            self._require_same_model(reference)
        while self._postponed:
            await self._drop_now(*self._postponed.popitem())
        if not self.up:
            _log.info("The engine at %s is ready.", self.engine.url)
        self.up, self._refusal = True, ""

    async def _drop_now(self, owner: str, ids: set[str] | None) -> None:
        try:
            await self.engine.drop(owner, None if ids is None else sorted(ids))
        except EngineError:
            self._postpone(owner, None if ids is None else sorted(ids))
            raise

    def _require_same_model(self, reference: Engine) -> None:
        info, verdict = self.engine.info, self.engine.conformance
        if info.fingerprint != reference.info.fingerprint:
            raise EngineError(
                f"it serves {info.model}, which is not the model {reference.info.model} of the "
                "other engines, or not with the same settings."
            )
        if verdict.supported != reference.conformance.supported:
            raise EngineError(verdict.reason or "it passes the gate that another engine does not.")

    def _refused(self, error: EngineError) -> EngineError:
        if str(error) != self._refusal:
            _log.error("The engine at %s cannot be used: %s", self.engine.url, error)
        self.up, self._refusal = False, str(error)
        return error

    def _postpone(self, owner: str, segment_ids: Sequence[str] | None) -> None:
        held_back = self._postponed.get(owner, set())
        if segment_ids is None or held_back is None:
            self._postponed[owner] = None
        else:
            self._postponed[owner] = held_back | set(segment_ids)
