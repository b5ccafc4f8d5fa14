"""One engine of a fleet, as the fleet knows it: whether it runs, and what it still owes."""

import asyncio
import logging
from collections.abc import Sequence

from memory_engine.engines.base import Engine
from memory_engine.engines.remote import RemoteEngine
from memory_engine.errors import EngineError, EngineStoppedError

_log = logging.getLogger(__name__)


class Member:
    """Wraps the direct line to one engine; other requests go through the router.

    `up` is whether it may be used; `start` names the start of it that passed the gate.
    """

    def __init__(self, engine: RemoteEngine) -> None:
        self.engine = engine
        self.up = False
        self._start = ""
        self._refusal = ""
        self._checking = asyncio.Lock()
        # What was to be dropped while it did not answer, by owner; None is all of the owner's.
        self._owed: dict[str, set[str] | None] = {}

    async def look(self, like: Engine | None, *, closely: bool = False) -> EngineError | None:
        """See whether the engine runs; one that was away is checked before it counts as up.

        like: an engine of the fleet, which it has to be like. closely: ask the engine itself
        and not only its server, for it may have started anew unnoticed. Returns why an engine
        that answers cannot be used.
        """
        if not closely and not await self.engine.healthy():
            self.stopped()
        elif closely or not self.up:
            try:
                # Many callers may find at once that it started anew; one of them checks it.
                async with self._checking:
                    await self._welcome(like)
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
        self._owe(owner, segment_ids)
        return 0

    def stopped(self) -> None:
        """It does not answer."""
        if self.up:
            _log.warning("The engine at %s does not answer.", self.engine.url)
        self.up = False

    async def _welcome(self, like: Engine | None) -> None:
        start = str((await self.engine.describe())["start"])
        if start != self._start:
            await self.engine.introduce()
            self._start = start
        if like is not None:
            self._require_like(like)
        while self._owed:
            await self._pay(*self._owed.popitem())
        if not self.up:
            _log.info("The engine at %s is ready.", self.engine.url)
        self.up, self._refusal = True, ""

    async def _pay(self, owner: str, ids: set[str] | None) -> None:
        try:
            await self.engine.drop(owner, None if ids is None else sorted(ids))
        except EngineError:
            self._owe(owner, None if ids is None else sorted(ids))
            raise

    def _require_like(self, like: Engine) -> None:
        info, verdict = self.engine.info, self.engine.conformance
        if info.fingerprint != like.info.fingerprint:
            raise EngineError(
                f"it serves {info.model}, which is not the model {like.info.model} of the other "
                "engines, or not with the same settings."
            )
        if verdict.supported != like.conformance.supported:
            raise EngineError(verdict.reason or "it passes the gate that another engine does not.")

    def _refused(self, error: EngineError) -> EngineError:
        if str(error) != self._refusal:
            _log.error("The engine at %s cannot be used: %s", self.engine.url, error)
        self.up, self._refusal = False, str(error)
        return error

    def _owe(self, owner: str, segment_ids: Sequence[str] | None) -> None:
        owed = self._owed.get(owner, set())
        if segment_ids is None or owed is None:
            self._owed[owner] = None
        else:
            self._owed[owner] = owed | set(segment_ids)
