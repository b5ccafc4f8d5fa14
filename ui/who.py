"""Who uses the page, and the way out, where people sign in on a page of ours."""

import gradio as gr

from ui.events import user_of
from ui.text import as_html


def who(request: gr.Request) -> str:
    """The user's name and a form that ends the session; the form needs no script."""
    return (
        '<div class="who"><p><span class="quiet">Signed in as</span> '
        f"<strong>{as_html(user_of(request))}</strong></p>"
        '<form method="post" action="/sign-out"><button>Sign out</button></form></div>'
    )
