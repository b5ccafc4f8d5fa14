"""Layout of the timings panel: the turns of this page, and one question measured in three ways."""

from typing import Any

import gradio as gr

from app.service import ChatService
from ui.parts.shared_parts import html
from ui.timings.timing_chart import drawn


def draw_timings(service: ChatService) -> dict[str, Any]:
    """Draw the panel; returns its parts by name."""
    html("<h2>Time to the first token</h2>")
    parts: dict[str, Any] = {"timings": html(drawn([])["timings"])}
    html(
        "<h2>Text against KV on one question</h2>"
        '<p class="quiet">Asked as text that is read from nothing, as text that the prefix cache '
        "has, and with injected KV. Nothing of it is remembered.</p>"
    )
    parts["question"] = gr.Textbox(
        label="Question",
        value="What do you know about me?",
        max_lines=3,
        min_width=120,
        html_attributes=gr.InputHTMLAttributes(autocomplete="off"),
    )
    parts["measured_k"] = gr.Slider(
        0,
        max(200, service.recall_k),
        service.recall_k,
        step=1,
        label="Facts (k)",
        buttons=[],
    )
    parts["measure"] = gr.Button("Measure", interactive=service.kv_available, size="md")
    parts["measured"] = html()
    return parts
