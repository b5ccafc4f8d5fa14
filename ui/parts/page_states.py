"""The states of the page: asking, idle, an error to show."""

from typing import Protocol

import gradio as gr

from ui.chat.pane import Changes, Shown
from ui.parts.escaping import as_html

SIDE_BY_SIDE = "both"


class Capable(Protocol):
    """What says whether KV injection works with the loaded model."""

    kv_available: bool


def busy() -> Changes:
    """Stop in place of Send; the mode stays as it is until the turn ends."""
    return {
        **offered([]),
        "send": gr.update(visible=False),
        "stop": gr.update(visible=True),
        "mode": gr.update(interactive=False),
    }


def idle(service: Capable) -> Changes:
    """Ready for the next message."""
    return {
        "send": gr.update(visible=True),
        "stop": gr.update(visible=False),
        "mode": gr.update(interactive=service.kv_available),
    }


def offered(shown: Shown) -> Changes:
    """What can be done with the last exchange, where there is one."""
    return {"acts": gr.update(visible=bool(shown))}


def no_account() -> Changes:
    """Nothing was answered, so there is nothing to account for."""
    return {"left_account": "", "right_account": "", "strip": ""}


def notice(message: str) -> str:
    """An error in words, read out by screen readers at once."""
    return f'<p class="notice" role="alert">{as_html(message)}</p>'


def said(message: str) -> str:
    """Something that went well, in words."""
    return f'<p class="quiet said" role="status">{as_html(message)}</p>'
