"""The chat in the browser: Gradio over `app.service.ChatService`.

In come a browser's events, out go changes of the page. Imports go down: `shell` puts the page
together and serves it; `memory`, `conversations` and `timings` are its panels; `chat` is one turn
and its trace; `parts` is what all of them share.
"""

from ui.shell.web_app import build_ui, create_app

__all__ = ["build_ui", "create_app"]
