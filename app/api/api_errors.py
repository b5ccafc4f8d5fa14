"""Errors as OpenAI's clients expect them. Only here do errors have status codes."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.metrics import ERRORS
from app.public_errors import public_message
from memory_engine.errors import (
    BusyError,
    DatabaseError,
    DatabaseLockedError,
    DatabaseUnavailableError,
    EngineError,
    EngineStoppedError,
    ForbiddenError,
    MessageTooLongError,
    NotFoundError,
    SignInError,
    TooLargeError,
    UnsupportedModelError,
    UserError,
)

# The first class that fits counts: status, type and code.
KNOWN: tuple[tuple[type[Exception], int, str, str | None], ...] = (
    (SignInError, 401, "authentication_error", "invalid_api_key"),
    (ForbiddenError, 403, "permission_error", None),
    (NotFoundError, 404, "invalid_request_error", "not_found"),
    (TooLargeError, 413, "invalid_request_error", "request_too_large"),
    (BusyError, 429, "rate_limit_error", "rate_limit_exceeded"),
    (MessageTooLongError, 400, "invalid_request_error", "context_length_exceeded"),
    (UnsupportedModelError, 400, "invalid_request_error", "kv_not_available"),
    (DatabaseError, 503, "server_error", "database_unavailable"),
    (EngineStoppedError, 503, "server_error", "engine_stopped"),
    (EngineError, 500, "server_error", "engine_failed"),
    (UserError, 400, "invalid_request_error", None),
)

# A database that is restarted, or a lock in it, is gone after seconds.
DATABASE_RETRY_AFTER = "5"

log = logging.getLogger(__name__)


class BadRequestError(UserError):
    """A request that cannot be served as it is; `param` names the field."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.code = code


class NoModelError(NotFoundError):
    """The request names a model that is not offered."""


def body_of(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and the body for an error.

    One that was not raised on purpose is logged, and its body says nothing but that.
    """
    message = public_message(error)
    for kind, status, name, code in KNOWN:
        if isinstance(error, kind):
            if isinstance(error, NoModelError):
                return status, _body(message, name, "model", "model_not_found")
            if isinstance(error, BadRequestError):
                return status, _body(message, name, error.param, error.code)
            if status == 500:
                log.error("a request failed", exc_info=error)
            return status, _body(message, name, None, code)
    return 500, _body(message, "server_error", None, None)


def answer(error: Exception) -> JSONResponse:
    """The response for an error."""
    status, body = body_of(error)
    ERRORS.labels(str(status)).inc()
    headers = {}
    if isinstance(error, BusyError):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, DatabaseLockedError | DatabaseUnavailableError):
        headers["Retry-After"] = DATABASE_RETRY_AFTER
    if isinstance(error, SignInError):
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(body, status, headers)


def add_handlers(app: FastAPI) -> None:
    """Make `app` answer every error in this shape."""

    async def failed(_: Request, error: Exception) -> JSONResponse:
        return answer(error)

    async def invalid(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return answer(_explained(error))

    async def refused(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        ERRORS.labels(str(error.status_code)).inc()
        body = _body(str(error.detail), "invalid_request_error", None, None)
        return JSONResponse(body, error.status_code, error.headers)

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(UserError, failed)
    app.add_exception_handler(EngineError, failed)
    app.add_exception_handler(Exception, failed)


def _explained(error: RequestValidationError) -> BadRequestError:
    # The first fault in words; its input is not repeated, for it may be what somebody said.
    fault = error.errors()[0]
    place = [str(part) for part in fault["loc"] if part not in ("body", "query", "path", "header")]
    if fault["type"] == "json_invalid":
        return BadRequestError("The body is not JSON.")
    param = ".".join(place)
    return BadRequestError(f"{param or 'The body'}: {fault['msg']}.", param or None)


def _body(message: str, kind: str, param: str | None, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
