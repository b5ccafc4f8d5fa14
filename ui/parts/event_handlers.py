"""Adapter from a handler of the page to a handler of Gradio."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import gradio as gr

from app.public_errors import public_message
from memory_engine.errors import SignInError
from ui.parts.page_states import Changes

Parts = dict[str, Any]

# Quick handlers: out of the queue, so that no reply in progress holds them up.
QUICK: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
# Generating handlers: vLLM batches, so Gradio must not make them wait for one another.
SLOW: dict[str, Any] = {
    "show_progress": "hidden",
    "api_visibility": "private",
    "concurrency_limit": None,
}


def of(parts: Parts, names: Iterable[str]) -> list[Any]:
    """The named parts, in that order."""
    return [parts[name] for name in names]


def user_of(request: gr.Request) -> str:
    """The user who caused an event, as the page let them in. Raises SignInError for nobody."""
    if request.username is None:
        raise SignInError("Sign in first.")
    return request.username


def updates(
    parts: Parts,
    handlers_of: Callable[[str], Any],
    handler: Callable[..., Any],
    *,
    tab: bool = False,
) -> Callable[..., Any]:
    """Make a handler of Gradio from `handler`, whose named changes become component updates.

    It is a method of what `handlers_of` makes for a user: for each event for who caused it.
    With `tab` its first argument says which browser tab it is for.
    """

    def translated(changes: Changes) -> Parts:
        # Gradio takes an empty dict for the value of the first part.
        return {parts[name]: value for name, value in changes.items()} or gr.skip()

    def arguments(request: gr.Request, values: tuple[Any, ...]) -> tuple[Any, ...]:
        own = handlers_of(user_of(request))
        return (own, request.session_hash, *values) if tab else (own, *values)

    async def stream(request: gr.Request, *values: Any) -> Any:
        with gradio_errors():
            async with aclosing(handler(*arguments(request, values))) as changing:
                async for changes in changing:
                    yield translated(changes)

    async def once(request: gr.Request, *values: Any) -> Any:
        with gradio_errors():
            return translated(await handler(*arguments(request, values)))

    made = stream if inspect.isasyncgenfunction(handler) else once
    made.__qualname__ = handler.__qualname__
    return made


@contextmanager
def gradio_errors() -> Iterator[None]:
    """Raise any error as a gr.Error: a message on the page, in its public words."""
    try:
        yield
    except Exception as error:
        raise gr.Error(public_message(error), print_exception=False) from error
