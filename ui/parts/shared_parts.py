"""Gradio components that several panels draw."""

from typing import Any

import gradio as gr


def html(value: str = "", **settings: Any) -> gr.HTML:
    """Draw HTML without Gradio's own style."""
    return gr.HTML(value, apply_default_css=False, **settings)


def search_box(label: str) -> gr.Textbox:
    """Draw a box that narrows a list down."""
    return gr.Textbox(
        label=label,
        show_label=False,
        placeholder=label,
        container=False,
        max_lines=1,
        min_width=120,
        elem_classes="search",
        html_attributes=gr.InputHTMLAttributes(autocomplete="off"),
    )
