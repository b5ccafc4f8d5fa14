"""Public messages of errors: the rest of an error is for the log only."""

import logging

from memory_engine.errors import InferScaleError

FAILED = "The server failed; its log says why."

log = logging.getLogger(__name__)


def public_message(error: Exception) -> str:
    """The message for the page and for programs; what it leaves out is logged.

    That is where the database is, and all of an error that nobody foresaw, whose message may
    hold what somebody said.
    """
    if not isinstance(error, InferScaleError):
        log.error("a request failed", exc_info=error)
        return FAILED
    if error.public_message != str(error):
        log.error("a request failed: %s", error)
    return error.public_message
