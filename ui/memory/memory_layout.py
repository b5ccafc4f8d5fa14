"""Layout of the memory panel: a list beside the chat, with all its tools as a view of its own."""

from typing import Any

import gradio as gr

from ui.memory.bulk_panel import CONFIRMATION
from ui.parts.row_events import ON_CLICK
from ui.parts.shared_parts import html, search_box


def draw_memory(*, sign_in: bool = False) -> dict[str, Any]:
    """Draw the panel; returns its parts by name. `sign_in`: forgetting spares sign-ins."""
    html(
        '<h2>What I know about you</h2><a class="skip manage" href="#memory-tools">'
        "Import, export, forget everything</a>"
    )
    with gr.Row(elem_id="memory-columns", equal_height=False):
        with gr.Column(elem_id="memory-list", min_width=160):
            parts = _list()
        with gr.Column(elem_id="memory-tools", elem_classes="manage", min_width=160):
            parts |= _tools(sign_in)
    return parts


def _list() -> dict[str, Any]:
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
    return {
        "new_fact": text,
        "add": add,
        "find_fact": search_box("Search facts"),
        "with_past": gr.Checkbox(
            False, label="Show what held once", container=False, elem_classes="manage"
        ),
        "facts_notice": html(),
        "past_facts": html(js_on_load=ON_CLICK, elem_classes="list manage"),
        "facts": html(js_on_load=ON_CLICK, elem_classes="list"),
    }


def _tools(sign_in: bool) -> dict[str, Any]:
    notice = html()
    html("<h3>Where it is</h3>")
    residency = html()
    html("<h3>In and out</h3>")
    with gr.Row(elem_classes="pair"):
        export = gr.Button("Export as JSON", size="md", min_width=120)
        take_in = gr.UploadButton(
            "Import a file", size="md", min_width=120, file_types=[".json"], file_count="single"
        )
    html("<h3>Try it with a sample person</h3>")
    html('<p class="quiet">Fifty facts, as one conversation that can be deleted again.</p>')
    with gr.Row(elem_classes="pair"):
        sample = gr.Button("Load sample person", size="md", min_width=120)
        no_sample = gr.Button("Remove it again", size="md", min_width=120)
    html("<h3>Forget everything</h3>")
    kept = " Your sign-in and API keys stay: they are not memory." if sign_in else ""
    html(
        '<p class="quiet">Every fact and every conversation, for good, on disk and in KV.'
        f"{kept}</p>"
    )
    confirmation = gr.Textbox(
        label=f"Type “{CONFIRMATION}” to confirm", max_lines=1, min_width=120,
        html_attributes=gr.InputHTMLAttributes(autocomplete="off"),
    )  # fmt: skip
    everything = gr.Button("Forget everything", variant="stop", size="md", elem_classes="danger")
    return {
        "bulk_notice": notice,
        "residency": residency,
        "export": export,
        "take_in": take_in,
        "sample": sample,
        "no_sample": no_sample,
        "confirmation": confirmation,
        "everything": everything,
        "audit": html(),
    }
