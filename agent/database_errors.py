"""Database drivers' errors, told as what the user can do about them."""

from sqlalchemy.exc import DBAPIError, OperationalError

from memory_engine.errors import (
    DatabaseError,
    DatabaseLockedError,
    DatabaseReadOnlyError,
    DatabaseRevisionError,
)

LOCKED = (
    "The database {name} is locked by another program. Close the other program that writes "
    "to it, then try again."
)
READ_ONLY = (
    "The database {name} cannot be written. Give this user write permission on the file and "
    "its folder (or on the PostgreSQL server), or choose another INFERSCALE_DATABASE_URL."
)
REVISION = (
    "The database {name} does not have the tables this version needs. Run `inferscale migrate`."
)
UNREACHABLE = "The database {name} cannot be opened: {reason}. Check INFERSCALE_DATABASE_URL."

# What the drivers say: parts of SQLite's messages, and PostgreSQL's SQLSTATE codes.
SQLITE = (
    (("database is locked", "database table is locked", "database is busy"), "locked"),
    (("readonly database", "read-only"), "read_only"),
    (("no such table", "no such column", "has no column named"), "revision"),
    (
        ("unable to open database", "not a database", "malformed", "disk i/o"),
        "unreachable",
    ),
)
SQLSTATES = {
    "55P03": "locked",
    "25006": "read_only",
    "42501": "read_only",
    "42P01": "revision",
    "42703": "revision",
}


def explain(error: DBAPIError, name: str) -> DatabaseError | None:
    """The error to raise instead of `error`, or None when it is a fault of ours.

    `name` is the database's URL without its password.
    """
    reason = str(error.orig)
    found = _kind(error, reason)
    if found == "locked":
        return DatabaseLockedError(LOCKED.format(name=name))
    if found == "read_only":
        return DatabaseReadOnlyError(READ_ONLY.format(name=name))
    if found == "revision":
        return DatabaseRevisionError(REVISION.format(name=name))
    if found == "unreachable":
        return DatabaseError(UNREACHABLE.format(name=name, reason=reason.strip().split("\n")[0]))
    return None


def _kind(error: DBAPIError, reason: str) -> str | None:
    sqlstate = getattr(error.orig, "sqlstate", None)
    if sqlstate in SQLSTATES:
        return SQLSTATES[sqlstate]
    lowered = reason.lower()
    for parts, kind in SQLITE:
        if any(part in lowered for part in parts):
            return kind
    if isinstance(error, OperationalError) and (sqlstate is None or sqlstate.startswith("08")):
        return "unreachable"
    return None
