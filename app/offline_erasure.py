"""Offline erasure audit, and removal of KV snapshots by commands that load no model."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agent.db.database import Database
from agent.facts.erasure_audit import Finding, audit_stored
from agent.facts.fact_store import FactStore
from app.composition import open_database, running_service
from app.models.engine_choice import snapshot_folder
from app.settings import Settings


async def audit(
    settings: Settings, user: str, words: Sequence[str] = (), *, with_engine: bool = True
) -> list[Finding]:
    """Audit what is left of what `user` had forgotten: SQL, files, then index and KV.

    words: what was forgotten said; searched for in the bytes of an SQLite database. An index
    and KV are those of a service started here: another program's memory is its own.
    """
    database = await open_database(settings)
    try:
        found = await audit_stored(database, user, words)
        found.append(await _snapshot(settings, database, user))
    finally:
        await database.aclose()
    if with_engine:
        async with running_service(settings) as service:
            found += await service.audit(user)
    return found


def remove_snapshot(settings: Settings, user: str) -> None:
    """Delete the user's KV on disk: it may hold what is being forgotten, and is a cache."""
    if snapshot_folder(settings).is_dir():
        from memory_engine.connector.segments import snapshots

        snapshots.remove(str(snapshot_folder(settings)), user)


async def _snapshot(settings: Settings, database: Database, user: str) -> Finding:
    place = "KV on disk"
    if not snapshot_folder(settings).is_dir():
        return Finding(place, "no snapshots")
    from memory_engine.connector.segments import snapshots

    files = snapshots.paths(str(snapshot_folder(settings)), user)
    events = await FactStore(database).history(user)
    forgotten = max((e.at for e in events if e.kind == "forgotten"), default=None)
    older = [f for f in files if forgotten is None or _written(f) < forgotten]
    if not files:
        return Finding(place, "no snapshot of this user")
    if not events:
        return Finding(place, f"{len(files)} files of a user who has no facts", ok=False)
    if forgotten is not None and older:
        return Finding(place, f"{len(older)} files older than the last forgetting", ok=False)
    return Finding(place, f"{len(files)} files, written after the last forgetting")


def _written(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)
