"""The chat in the browser: Gradio over `app.service.ChatService`."""

from ui.shell.web_app import build_ui, create_app

__all__ = ["build_ui", "create_app"]
