"""What a handler changes reaches Gradio as the parts of the page that change."""

from types import SimpleNamespace
from typing import Any, cast

import gradio as gr

from ui.events import updates
from ui.pane import Changes


async def test_a_handler_that_changes_nothing_leaves_every_part_as_it_is() -> None:
    async def handler(user: str, wanted: Changes) -> Changes:
        return wanted

    event: Any = updates({"left": "the left pane"}, lambda user: user, handler)
    request = cast(gr.Request, SimpleNamespace(username="ann", session_hash="tab"))
    assert await event(request, {"left": 1}) == {"the left pane": 1}
    assert await event(request, {}) == gr.skip()
