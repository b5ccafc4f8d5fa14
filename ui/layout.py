"""The page: conversations, chat and memory, side by side or, on a phone, one at a time."""

from typing import Any

import gradio as gr

from app.service import ChatService
from memory_engine.types import Mode
from ui.states import SIDE_BY_SIDE

# A click on a button with an id inside the HTML reaches Python as an event with that id.
_ROW_CLICKED = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-id]');
  if (button) trigger('click', {id: button.dataset.id});
});
"""

# On a narrow screen one panel is shown at a time; the choice is a class of the body.
_PANEL_CHOSEN = """
const buttons = [...element.querySelectorAll('button[data-panel]')];
const show = (panel) => {
  document.body.dataset.panel = panel;
  for (const b of buttons) b.setAttribute('aria-pressed', String(b.dataset.panel === panel));
};
for (const b of buttons) b.addEventListener('click', () => show(b.dataset.panel));
document.addEventListener('click', (event) => {
  if (event.target.closest('#conversations-panel button')) show('chat');
});
show('chat');
"""

_HEADER = """
<header class="bar"><h1>InferScale</h1>
<nav aria-label="Panels">
<button type="button" data-panel="conversations" aria-pressed="false">Conversations</button>
<button type="button" data-panel="chat" aria-pressed="true">Chat</button>
<button type="button" data-panel="memory" aria-pressed="false">Memory</button>
</nav></header>
"""

_EXAMPLES = ["My dog is called Biscuit", "What is my dog's name?"]


def draw(service: ChatService) -> dict[str, Any]:
    """Draw the page inside the open gr.Blocks; returns its parts by name."""
    parts: dict[str, Any] = {
        "conversation_id": gr.State(None),
        "asked": gr.State(0),
        "clicked": gr.State(""),
        "taken": gr.State(""),
    }
    _html(_HEADER, js_on_load=_PANEL_CHOSEN, elem_id="header")
    with gr.Row(elem_id="page", equal_height=False):
        with gr.Column(elem_id="conversations-panel", elem_classes="zone", min_width=200):
            parts |= _conversations()
        with gr.Column(elem_id="chat-panel", elem_classes="zone", min_width=240):
            parts |= _chat(service)
        with gr.Column(elem_id="memory-panel", elem_classes="zone", min_width=200):
            parts |= _memory()
    return parts


def _conversations() -> dict[str, Any]:
    new = gr.Button("New conversation", size="md", elem_id="new")
    listed = _html(js_on_load=_ROW_CLICKED, elem_classes="list")
    return {"new": new, "conversations": listed}


def _chat(service: ChatService) -> dict[str, Any]:
    parts: dict[str, Any] = {"mode": _mode(service)}
    with gr.Row(elem_id="panes"):
        parts |= _pane("left", "Text", visible=True)
        parts |= _pane("right", "KV", visible=False)
    parts["strip"] = _html(elem_id="strip")
    parts["notice"] = _html(elem_id="notice")
    with gr.Row(elem_id="ask"):
        parts["prompt"] = gr.Textbox(
            label="Message",
            show_label=False,
            placeholder="Ask or tell me something",
            lines=1,
            max_lines=6,
            container=False,
            autofocus=True,
            html_attributes=gr.InputHTMLAttributes(autocomplete="off"),
            scale=1,
            min_width=120,
        )
        parts["send"] = gr.Button("Send", variant="primary", scale=0, min_width=84)
        parts["stop"] = gr.Button("Stop", variant="stop", scale=0, min_width=84, visible=False)
    return parts


def _mode(service: ChatService) -> gr.Radio:
    if service.kv_available:
        info = "KV injects what is known already, Text has the model read it again."
    else:
        info = f"KV injection is off for this model: {service.kv_refusal}"
    return gr.Radio(
        choices=[("Text", Mode.TEXT.value), ("KV", Mode.KV.value), ("Side by side", SIDE_BY_SIDE)],
        value=Mode.KV.value if service.kv_available else Mode.TEXT.value,
        label="Mode",
        info=info,
        interactive=service.kv_available,
        elem_id="mode",
    )


def _pane(name: str, label: str, *, visible: bool) -> dict[str, Any]:
    with gr.Column(
        elem_id=f"{name}-pane", elem_classes="pane", visible=visible, min_width=260
    ) as c:
        _html(f'<h2 class="pane-name {name}">{label}</h2>')
        chatbot = gr.Chatbot(
            label=label,
            show_label=False,
            height=None,
            layout="bubble",
            placeholder="**What should I know about you?**",
            examples=[{"text": text} for text in _EXAMPLES] if name == "left" else None,
            buttons=["copy"],
            allow_tags=False,
            feedback_options=None,
            elem_classes="transcript",
        )
        account = _html(elem_classes="account")
    return {name: chatbot, f"{name}_pane": c, f"{name}_account": account}


def _memory() -> dict[str, Any]:
    _html("<h2>What I know about you</h2>")
    with gr.Row(elem_id="add"):
        text = gr.Textbox(
            label="New fact",
            show_label=False,
            placeholder="Add a fact",
            container=False,
            max_lines=4,
            min_width=120,
        )
        add = gr.Button("Add", scale=0, min_width=64)
    said = _html()
    listed = _html(js_on_load=_ROW_CLICKED, elem_classes="list")
    return {"new_fact": text, "add": add, "facts_notice": said, "facts": listed}


def _html(value: str = "", **settings: Any) -> gr.HTML:
    return gr.HTML(value, apply_default_css=False, **settings)
