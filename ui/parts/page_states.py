"""States of the page as changes of its parts: asking, idle, an error or a status to show."""

from typing import Any, Protocol

import gradio as gr

from ui.parts.escaping import as_html

SIDE_BY_SIDE = "both"  # the mode that asks in both modes

Changes = dict[str, Any]  # part of the page -> its new value
Shown = list[dict[str, Any]]  # the messages that a gr.Chatbot takes and gives back


class Capable(Protocol):
    """A service that knows whether KV injection works with the loaded model."""

    kv_available: bool


def busy() -> Changes:
    """Show Stop in place of Send; the mode stays as it is until the turn ends."""
    return {
        **exchange_actions([]),
        "send": gr.update(visible=False),
        "stop": gr.update(visible=True),
        "mode": gr.update(interactive=False),
    }


def idle(service: Capable) -> Changes:
    """Be ready for the next message."""
    return {
        "send": gr.update(visible=True),
        "stop": gr.update(visible=False),
        "mode": gr.update(interactive=service.kv_available),
    }


def exchange_actions(shown: Shown) -> Changes:
    """Show the actions on the last exchange, where there is one."""
    return {"acts": gr.update(visible=bool(shown))}


def no_traces() -> Changes:
    """Show no trace: nothing was answered."""
    return {"left_trace": "", "right_trace": "", "strip": ""}


def error_message(message: str) -> str:
    """An error in words as HTML, read out by screen readers at once."""
    return f'<p class="notice" role="alert">{as_html(message)}</p>'


def status_message(message: str) -> str:
    """Progress or success in words as HTML."""
    return f'<p class="quiet said" role="status">{as_html(message)}</p>'
