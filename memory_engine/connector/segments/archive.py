"""The scheduler side of snapshots: plans writing and reading them.

Segments that are read back stay hidden from every request until all ranks have said that
they are there, and are given up if one could not.
"""

from dataclasses import dataclass

from memory_engine.connector.segments import snapshots
from memory_engine.connector.segments.snapshots import Contents
from memory_engine.connector.segments.tiers import Held, Reserved, Tiers


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """Folder of snapshots, "" for none, its limit in bytes, and the number of ranks."""

    folder: str = ""
    budget: int = 0
    ranks: int = 1


@dataclass(frozen=True, slots=True)
class SnapshotOrder:
    """Write an owner's segments to `folder`; the folder may hold `budget` bytes."""

    request_id: str
    folder: str
    owner: str
    budget: int
    contents: Contents
    held: Held


@dataclass(frozen=True, slots=True)
class RestoreOrder:
    """Read rows of an owner's snapshot, of that version, into reserved slots."""

    request_id: str
    folder: str
    owner: str
    version: str
    reserved: Reserved


class Archive:
    """Plans snapshots and restores over `Tiers`; the worker executes them."""

    def __init__(self, tiers: Tiers, settings: ArchiveSettings) -> None:
        self._tiers = tiers
        self._settings = settings
        self._asked: dict[str, tuple[str, str]] = {}
        self._planned: dict[str, RestoreOrder] = {}
        self._sent: dict[str, RestoreOrder] = {}
        # Owners whose snapshot is being written, and the requests that have to be undone
        # because something of it was forgotten meanwhile.
        self._writing: dict[str, str] = {}
        self._stale: set[str] = set()

    def snapshot(self, request_id: str, owner: str, fingerprint: str) -> str:
        """Write the owner's segments at the end of the coming step; why not, or ""."""
        if not self._settings.folder:
            return "this engine keeps no snapshots"
        self._asked[request_id] = (owner, fingerprint)
        return ""

    def restore(self, request_id: str, owner: str, fingerprint: str) -> str:
        """Read the owner's segments back in the coming step; why nothing is read, or ""."""
        if not self._settings.folder:
            return "this engine keeps no snapshots"
        path = snapshots.path_of(self._settings.folder, owner, 0, self._settings.ranks)
        found = snapshots.contents(path)
        if found is None or found.fingerprint != fingerprint:
            # Nobody would notice that it holds what is forgotten from now on.
            snapshots.remove(self._settings.folder, owner)
            if found is None:
                return "there is no snapshot"
            return "the snapshot was of another model or other settings, and is deleted"
        order = self._tiers.reserve(owner, found.segments)
        if order.ids:
            self._planned[request_id] = RestoreOrder(
                request_id, self._settings.folder, owner, found.version, order
            )
        return ""

    def forget(self, owner: str) -> None:
        """Delete the owner's snapshot: it holds what is being forgotten."""
        if self._settings.folder:
            snapshots.remove(self._settings.folder, owner)
        self._stale |= {request for request, whose in self._writing.items() if whose == owner}

    def orders(
        self, saving: set[str]
    ) -> tuple[tuple[SnapshotOrder, ...], tuple[RestoreOrder, ...]]:
        """The orders for this step; `saving` are segments whose KV comes only with it."""
        written = []
        for request_id, (owner, fingerprint) in self._asked.items():
            held = self._tiers.contents(owner, saving)
            contents = Contents(fingerprint, held.segments)
            written.append(
                SnapshotOrder(
                    request_id, self._settings.folder, owner, self._settings.budget, contents, held
                )
            )
            self._writing[request_id] = owner
        self._asked = {}
        restores = tuple(self._planned.values())
        self._sent |= self._planned
        self._planned = {}
        return tuple(written), restores

    def report(self, request_id: str, error: str) -> None:
        """All ranks have executed the request's order, or one could not."""
        owner = self._writing.pop(request_id, None)
        if owner is not None and request_id in self._stale:
            self._stale.discard(request_id)
            snapshots.remove(self._settings.folder, owner)
        order = self._sent.pop(request_id, None)
        if order is not None:
            self._settle(order, there=not error)

    def finished(self, request_id: str) -> None:
        """The request is gone; what was not sent to the worker yet is given up."""
        self._asked.pop(request_id, None)
        order = self._planned.pop(request_id, None)
        if order is not None:
            self._settle(order, there=False)

    def _settle(self, order: RestoreOrder, *, there: bool) -> None:
        for segment_id in order.reserved.ids:
            self._tiers.settle(segment_id, order.reserved.on_host, there=there)
