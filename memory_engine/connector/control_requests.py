"""Control requests: operations on an owner's segments that act when they arrive."""

from memory_engine.connector.protocol.params import Op
from memory_engine.connector.segments.archive import Archive
from memory_engine.connector.segments.tiers import Tiers
from memory_engine.connector.tracked_request import TrackedRequest


class ControlRequests:
    """A handler for each control operation, over the tiers and the snapshots."""

    def __init__(self, tiers: Tiers, archive: Archive) -> None:
        self._tiers = tiers
        self._archive = archive
        self._handlers = {
            Op.DROP: self._drop,
            Op.DEMOTE: self._demote,
            Op.PREFETCH: self._prefetch,
            Op.SNAPSHOT: self._snapshot,
            Op.RESTORE: self._restore,
        }

    def carry_out(self, request_id: str, tracked: TrackedRequest) -> None:
        """Carry out the request's operation; one without a handler does nothing yet."""
        handler = self._handlers.get(tracked.params.op)
        if handler is not None:
            handler(request_id, tracked)

    def _drop(self, request_id: str, tracked: TrackedRequest) -> None:
        params = tracked.params
        self._archive.forget(params.owner)
        tracked.count = self._tiers.drop(params.owner, params.drop)

    def _demote(self, request_id: str, tracked: TrackedRequest) -> None:
        tracked.count = self._tiers.demote(tracked.params.owner)

    def _prefetch(self, request_id: str, tracked: TrackedRequest) -> None:
        tracked.count = self._tiers.prefetch(tracked.params.owner)

    def _snapshot(self, request_id: str, tracked: TrackedRequest) -> None:
        params = tracked.params
        tracked.error = self._archive.snapshot(request_id, params.owner, params.fingerprint)

    def _restore(self, request_id: str, tracked: TrackedRequest) -> None:
        params = tracked.params
        tracked.note = self._archive.restore(request_id, params.owner, params.fingerprint)
