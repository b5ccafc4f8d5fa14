"""A handler's changes reach Gradio as the parts of the page that change."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
import pytest

from app.public_errors import FAILED
from memory_engine.errors import DatabaseFullError
from ui.parts.event_handlers import updates
from ui.parts.page_states import Changes


async def test_a_handler_that_changes_nothing_leaves_every_part_as_it_is() -> None:
    async def handler(user: str, wanted: Changes) -> Changes:
        return wanted

    event: Any = updates({"left": "the left pane"}, lambda user: user, handler)
    request = cast(gr.Request, SimpleNamespace(username="ann", session_hash="tab"))
    assert await event(request, {"left": 1}) == {"the left pane": 1}
    assert await event(request, {}) == gr.skip()


ERRORS = [
    (DatabaseFullError("folder/biscuit.db is full"), "There is no room left"),
    (KeyError("what somebody said"), FAILED),
]


@pytest.mark.parametrize(("error", "message"), ERRORS)
async def test_an_error_is_shown_in_the_words_that_are_fit_for_the_page(
    error: Exception, message: str
) -> None:
    async def fails(user: str) -> Changes:
        raise error

    async def breaks_off(user: str) -> AsyncIterator[Changes]:
        yield {}
        raise error

    once: Any = updates({}, lambda user: user, fails)
    stream: Any = updates({}, lambda user: user, breaks_off)
    request = cast(gr.Request, SimpleNamespace(username="ann", session_hash="tab"))
    with pytest.raises(gr.Error, match=message):
        await once(request)
    with pytest.raises(gr.Error, match=message):
        [changes async for changes in stream(request)]
