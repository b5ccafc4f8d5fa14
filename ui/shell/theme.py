"""Theme of the page: colours, spacing and Gradio's own fonts, so that nothing is fetched."""

import gradio as gr

_SANS = ("ui-sans-serif", "system-ui", "sans-serif")
_MONO = ("ui-monospace", "Consolas", "monospace")


def theme() -> gr.Theme:
    """Make a calm theme: one accent, grey neutrals, round corners, in light and in dark."""
    return gr.themes.Default(
        primary_hue="teal",
        secondary_hue="teal",
        neutral_hue="slate",
        radius_size="lg",
        # Gradio's default asks for 600, and its Source Sans file of that weight lacks most letters.
        font=(gr.themes.LocalFont("Source Sans Pro", weights=(400, 700)), *_SANS),
        font_mono=(gr.themes.LocalFont("IBM Plex Mono", weights=(400, 700)), *_MONO),
    ).set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_700",
        button_primary_background_fill_hover_dark="*primary_800",
        button_cancel_background_fill="*neutral_800",
        button_cancel_background_fill_hover="*neutral_700",
        button_cancel_background_fill_dark="*neutral_100",
        button_cancel_background_fill_hover_dark="*neutral_300",
        button_cancel_text_color="white",
        button_cancel_text_color_dark="*neutral_900",
        checkbox_background_color_selected="*primary_700",
        checkbox_background_color_selected_dark="*primary_700",
    )
