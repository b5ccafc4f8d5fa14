"""Layout of the page: conversations, chat and memory side by side, on a phone one at a time."""

from typing import Any

import gradio as gr

from app.service import ChatService
from memory_engine.types import Mode
from ui.chat.reply_history import ON_OPEN
from ui.memory.memory_layout import draw_memory
from ui.parts.page_states import SIDE_BY_SIDE
from ui.parts.row_events import ON_CLICK
from ui.parts.shared_parts import html, search_box
from ui.timings.timings_layout import draw_timings

# One view is shown at a time, on a narrow screen one panel; the choice is a mark of the body.
# Escape does what Stop does, while there is something to stop.
_PANEL_CHOSEN = """
const buttons = [...element.querySelectorAll('button[data-panel]')];
const show = (panel) => {
  document.body.dataset.panel = panel;
  for (const b of buttons) b.setAttribute('aria-pressed', String(b.dataset.panel === panel));
};
for (const b of buttons) b.addEventListener('click', () => show(b.dataset.panel));
document.addEventListener('click', (event) => {
  if (event.target.closest('#conversations-panel button.open, #new')) show('chat');
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') document.querySelector('#stop')?.click();
});
show('chat');
"""

_HEADER = """
<header class="bar"><h1>InferScale</h1>
<nav aria-label="Panels">
<button type="button" data-panel="conversations" aria-pressed="false">Conversations</button>
<button type="button" data-panel="chat" aria-pressed="true">Chat</button>
<button type="button" data-panel="memory" aria-pressed="false">Memory</button>
<button type="button" data-panel="timings" aria-pressed="false">Timings</button>
</nav></header>
"""

LATEX: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "\\[", "right": "\\]", "display": True},
    {"left": "\\(", "right": "\\)", "display": False},
]

_EXAMPLES = ["My dog is called Biscuit", "What is my dog's name?"]


def draw(service: ChatService, *, sign_out: bool = False) -> dict[str, Any]:
    """Draw the page inside the open gr.Blocks; returns its parts by name.

    With `sign_out` there is a place for the user's name and the way out.
    """
    parts: dict[str, Any] = {
        "conversation_id": gr.State(None),
        "asked": gr.State(0),
        "clicked": gr.State({}),
        "taken": gr.State(""),
        "editing": gr.State(False),
        "reply_times": gr.State([]),
        "opened": gr.State(None),
        # Whether the tab has gone elsewhere since its last turn began.
        "moved_on": gr.State(False),
        # What the page's script makes a file of: nothing is written on the server.
        "download": gr.Textbox(visible="hidden", label="Download"),
    }
    html(_HEADER, js_on_load=_PANEL_CHOSEN, elem_id="header")
    with gr.Row(elem_id="page", equal_height=False):
        with gr.Column(elem_id="conversations-panel", elem_classes="zone", min_width=200):
            parts |= _conversations()
            if sign_out:
                parts["who"] = html(elem_id="who")
        with gr.Column(elem_id="chat-panel", elem_classes="zone", min_width=240):
            parts |= _chat(service)
        with gr.Column(elem_id="memory-panel", elem_classes="zone", min_width=200):
            parts |= draw_memory(sign_in=sign_out)
        with gr.Column(elem_id="timings-panel", elem_classes="zone", min_width=200):
            parts |= draw_timings(service)
    return parts


def _conversations() -> dict[str, Any]:
    return {
        "new": gr.Button("New conversation", size="md", elem_id="new"),
        "find_conversation": search_box("Search conversations"),
        "list_notice": html(),
        "conversations": html(js_on_load=ON_CLICK, elem_classes="list"),
    }


def _chat(service: ChatService) -> dict[str, Any]:
    parts: dict[str, Any] = {"mode": _mode(service)} | _options(service)
    with gr.Row(elem_id="panes"):
        parts |= _pane("left", "Text", visible=True)
        parts |= _pane("right", "KV", visible=False)
    parts["strip"] = html(elem_id="strip")
    parts["notice"] = html(elem_id="notice")
    parts["traces"] = html(js_on_load=ON_OPEN, elem_id="traces")
    parts |= _last_exchange()
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
        parts["stop"] = gr.Button(
            "Stop", variant="stop", scale=0, min_width=84, visible=False, elem_id="stop"
        )
    return parts


def _options(service: ChatService) -> dict[str, Any]:
    with gr.Accordion("Memory and facts to recall", open=False, elem_id="options"):
        memory = gr.Checkbox(
            True,
            label="Memory in this conversation",
            info="Off: nothing known is used here, and nothing said here is remembered.",
        )
        k = gr.Slider(
            0,
            max(200, service.recall_k),
            service.recall_k,
            step=1,
            label="Facts to recall (k)",
            info="How many facts a reply may use. Fewer are quicker to read as text.",
            buttons=[],
        )
        at_once = gr.Checkbox(
            False,
            label="Side by side: both at once",
            info="Off, one answers after the other. On, they share the engine and slow each other "
            "down: nice to watch, not to measure.",
            interactive=service.kv_available,
        )
    return {"memory": memory, "k": k, "at_once": at_once}


def _last_exchange() -> dict[str, Any]:
    """Draw the actions on the last message and its reply, and the bar shown while editing."""
    with gr.Row(elem_id="acts", visible=False) as acts:
        parts: dict[str, Any] = {
            "retry": gr.Button("Regenerate", size="sm", scale=0, min_width=96),
            "edit": gr.Button("Edit message", size="sm", scale=0, min_width=96),
            "undo": gr.Button("Undo exchange", size="sm", scale=0, min_width=96),
        }
    with gr.Row(elem_id="edit-bar", visible=False) as edit_bar:
        html('<p class="quiet" role="status">Sending replaces your last message.</p>')
        parts["keep"] = gr.Button("Cancel", size="sm", scale=0, min_width=80)
    return {**parts, "acts": acts, "edit_bar": edit_bar}


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
        html(f'<h2 class="pane-name {name}">{label}</h2>')
        chatbot = gr.Chatbot(
            label=label,
            show_label=False,
            height=None,
            layout="bubble",
            placeholder="**What should I know about you?**",
            examples=[{"text": text} for text in _EXAMPLES] if name == "left" else None,
            buttons=["copy"],
            allow_tags=False,
            latex_delimiters=LATEX,
            feedback_options=None,
            group_consecutive_messages=False,
            elem_classes="transcript",
        )
        trace = html(elem_classes="trace")
    return {name: chatbot, f"{name}_pane": c, f"{name}_trace": trace}
