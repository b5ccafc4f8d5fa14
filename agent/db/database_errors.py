"""Translation of database drivers' errors into errors that say what the user can do."""

from sqlalchemy.exc import DBAPIError, OperationalError

from memory_engine.errors import (
    DatabaseError,
    DatabaseFullError,
    DatabaseLockedError,
    DatabaseReadOnlyError,
    DatabaseRevisionError,
    DatabaseUnavailableError,
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
FULL = (
    "There is no room left for the database {name}, so nothing of this was stored. Free some "
    "disk space, then try again."
)
UNREADABLE = "The database {name} cannot be opened: {reason}. Check INFERSCALE_DATABASE_URL."
NO_ANSWER = (
    "The database {name} does not answer: {reason}. Try again in a moment; if that does not "
    "help, see whether its server runs, and check INFERSCALE_DATABASE_URL."
)

# What the drivers say: parts of SQLite's messages, and PostgreSQL's SQLSTATE codes.
SQLITE = (
    (("database is locked", "database table is locked", "database is busy"), "locked"),
    (("readonly database", "read-only"), "read_only"),
    (("no such table", "no such column", "has no column named"), "revision"),
    (("database or disk is full",), "full"),
    (("unable to open database", "not a database", "malformed", "disk i/o"), "unreadable"),
)
SQLSTATES = {
    "55P03": "locked",
    "40P01": "locked",
    "25006": "read_only",
    "42501": "read_only",
    "42P01": "revision",
    "42703": "revision",
    "53100": "full",
    "57014": "no_answer",
    "57P01": "no_answer",
    "57P02": "no_answer",
    "57P03": "no_answer",
    "25P03": "no_answer",
    "53200": "no_answer",
    "53300": "no_answer",
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
    if found == "full":
        return DatabaseFullError(FULL.format(name=name))
    if found == "no_answer":
        return no_answer(name, _first_line(reason))
    if found == "unreadable":
        return DatabaseError(UNREADABLE.format(name=name, reason=_first_line(reason)))
    return None


def no_answer(name: str, reason: str) -> DatabaseUnavailableError:
    """The error for a database that does not answer, or not in time."""
    return DatabaseUnavailableError(NO_ANSWER.format(name=name, reason=reason))


def _kind(error: DBAPIError, reason: str) -> str | None:
    sqlstate = getattr(error.orig, "sqlstate", None)
    if sqlstate in SQLSTATES:
        return SQLSTATES[sqlstate]
    lowered = reason.lower()
    for parts, kind in SQLITE:
        if any(part in lowered for part in parts):
            return kind
    if isinstance(error, OperationalError) and (sqlstate is None or sqlstate.startswith("08")):
        return "no_answer"
    return None


def _first_line(reason: str) -> str:
    return reason.strip().split("\n")[0]
