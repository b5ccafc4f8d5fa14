"""Connection options: pools and time limits for PostgreSQL, pragmas for SQLite."""

from typing import Any

from sqlalchemy import URL, Connection

LOCK_TIMEOUT_MS = 5000
STATEMENT_TIMEOUT_MS = 20_000
# A transaction that does nothing for so long belongs to a process that hangs, and holds rows.
IDLE_TIMEOUT_MS = 120_000
# To reach the server, to get one of the connections, and for a server that does not even
# end what takes too long: whoever waits longer is told so.
CONNECT_S = 5
WAIT_S = 10
ANSWER_S = 20
# Firewalls forget connections that are silent for long.
RECYCLE_S = 1800
# A server that vanished without a word is noticed after about so many seconds.
SILENT_S = 20
# NORMAL, not FULL: in WAL mode a commit is in the operating system's hands before it
# returns, so it survives kill -9 of this process. FULL would also survive a power cut,
# at the price of an fsync before every first token.
PRAGMAS = (
    f"busy_timeout={LOCK_TIMEOUT_MS}",
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "secure_delete=ON",
)
BEGIN = "inferscale_begin"


def pool_options(connections: int) -> dict[str, Any]:
    """A pool of at most `connections` to PostgreSQL, each looked at before it is used."""
    return {
        "pool_size": connections,
        "max_overflow": 0,
        "pool_timeout": WAIT_S,
        "pool_recycle": RECYCLE_S,
        "pool_pre_ping": True,
    }


def connect_arguments(url: URL) -> dict[str, Any]:
    """The PostgreSQL driver's arguments: name, time limits. Those that the URL gives win."""
    limits = {
        "lock_timeout": LOCK_TIMEOUT_MS,
        "statement_timeout": STATEMENT_TIMEOUT_MS,
        "idle_in_transaction_session_timeout": IDLE_TIMEOUT_MS,
    }
    given = url.query.get("options", "")
    assert isinstance(given, str), "an option is given once"
    arguments = {
        "application_name": "inferscale",
        "connect_timeout": CONNECT_S,
        "keepalives_idle": SILENT_S // 2,
        "keepalives_interval": SILENT_S // 4,
        "keepalives_count": 2,
        "tcp_user_timeout": SILENT_S * 1000,
    }
    arguments = {name: value for name, value in arguments.items() if name not in url.query}
    options = [f"-c {name}={value}" for name, value in limits.items()]
    return arguments | {"options": " ".join([*options, given]).strip()}


def set_pragmas(connection: Any, _record: object) -> None:
    """Prepare a new connection to SQLite."""
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        for pragma in PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
    finally:
        cursor.close()


def begin(connection: Connection) -> None:
    """Begin a transaction on SQLite as the connection's options say.

    The driver's own BEGIN comes too late for DDL and for reads; see `Database.write`.
    """
    statement = connection.get_execution_options().get(BEGIN, "BEGIN")
    if statement:
        connection.exec_driver_sql(statement)
