"""The tree of errors that InferScale raises on purpose.

InferScaleError
├── UserError                    the caller can mend it, and the message says how
│   ├── EmptyMessageError        nothing but white space was sent
│   ├── MessageTooLongError      the message does not fit the model's context
│   ├── NotFoundError            no such fact or conversation for this user
│   ├── SignInError              a key or a sign-in is missing or wrong
│   ├── ForbiddenError           who asks is known, and may not
│   ├── TooLargeError            a request has more bytes than are allowed
│   ├── BusyError                too many requests; later there is room
│   ├── SettingsError            a setting has a value that cannot work
│   ├── ModelNotFoundError       the model folder is missing or holds no model
│   ├── ArenaTooLargeError       the KV arena does not fit the device's memory
│   ├── PortTakenError           another program listens on the port
│   └── DatabaseError            the database cannot be used as it is
│       ├── DatabaseLockedError      another process holds the write lock
│       ├── DatabaseReadOnlyError    the file or the server refuses writes
│       ├── DatabaseFullError        there is no room left on its disk
│       ├── DatabaseUnavailableError the server does not answer, or not in time
│       └── DatabaseRevisionError    the schema is at another revision than this code
└── EngineError                  the engine failed
    ├── EngineStoppedError       the engine is not running (any more)
    └── UnsupportedModelError    KV injection is not possible with this model

Packages above this one raise these classes; none adds a root of its own.
"""

from typing import ClassVar


class InferScaleError(Exception):
    """Root of all errors raised on purpose."""

    @property
    def public_message(self) -> str:
        """The message for people who use the service and do not run it."""
        return str(self)


class UserError(InferScaleError):
    """Something the caller can mend; the message says how."""


class EmptyMessageError(UserError):
    """Nothing but white space was sent."""


class MessageTooLongError(UserError):
    """The message does not fit the model's context; the message names the limit in tokens."""


class NotFoundError(UserError):
    """No such fact or conversation for this user."""


class SignInError(UserError):
    """A key or a sign-in is missing or wrong."""


class ForbiddenError(UserError):
    """The caller is known, and may not have this."""


class TooLargeError(UserError):
    """A request has more bytes than are allowed."""


class BusyError(UserError):
    """Too many requests, of all users or of this one; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SettingsError(UserError):
    """A setting has a value that cannot work; the message names key and value."""


class ModelNotFoundError(UserError):
    """The model folder is missing or holds no model."""


class ArenaTooLargeError(UserError):
    """The KV arena does not fit the device's memory."""


class PortTakenError(UserError):
    """Another program listens on the port."""


class DatabaseError(UserError):
    """The database cannot be used as it is; `public_message` does not say where it is."""

    _TOLD: ClassVar = "The database cannot be used. Whoever runs this server finds why in its log."

    @property
    def public_message(self) -> str:
        return self._TOLD


class DatabaseLockedError(DatabaseError):
    """Another process holds the write lock."""

    _TOLD = "The database is locked by another program. Try again in a moment."


class DatabaseReadOnlyError(DatabaseError):
    """The database file or server refuses writes."""


class DatabaseFullError(DatabaseError):
    """There is no room left on the database's disk."""

    _TOLD = (
        "There is no room left for the database, so nothing of this was stored. "
        "Whoever runs this server has to make some."
    )


class DatabaseUnavailableError(DatabaseError):
    """The database's server does not answer, or not in time."""

    _TOLD = "The database does not answer. Try again in a moment."


class DatabaseRevisionError(DatabaseError):
    """The schema is at another revision than this code."""


class EngineError(InferScaleError):
    """The engine failed."""


class EngineStoppedError(EngineError):
    """The engine is not running (any more)."""


class UnsupportedModelError(EngineError):
    """KV injection is not possible with this model; the message gives the reason."""
