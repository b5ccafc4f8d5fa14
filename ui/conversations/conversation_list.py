"""Rows of the conversation list as HTML, and a conversation as a Markdown file."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from agent.conversations.conversation_store import UNTITLED
from app.service import Conversation
from memory_engine.types import Message
from ui.parts.escaping import as_html, day

SPEAKERS = {"user": "You", "assistant": "InferScale"}
_NOT_IN_A_NAME = re.compile(r"[^\w-]+")


def conversations_list(
    conversations: Sequence[Conversation], open_id: str | None, search: str = ""
) -> str:
    """The conversations as rows; the open one can be renamed, exported and deleted."""
    # A conversation without a message has no title yet, and nothing to go back to.
    titled = [each for each in conversations if each.title != UNTITLED]
    if not titled:
        message = "No conversation says that." if search.strip() else "No conversations yet."
        return f'<p class="quiet">{message}</p>'
    rows = "".join(_row(each, each.id == open_id) for each in titled)
    return f'<ul class="rows conversations">{rows}</ul>'


def as_document(title: str, messages: Sequence[Message]) -> str:
    """A conversation in Markdown, each turn exactly as it was said."""
    turns = (f"**{SPEAKERS[m.role]}**\n\n{m.content}\n" for m in messages)
    return "\n".join((f"# {title}\n", *turns))


def file_name(title: str) -> str:
    """A name that every system takes: `My dog.md` becomes `my-dog.md`."""
    return f"{_NOT_IN_A_NAME.sub('-', title).strip('-').lower()[:40] or 'conversation'}.md"


def _row(conversation: Conversation, is_open: bool) -> str:
    current = ' aria-current="true"' if is_open else ""
    title, number = as_html(conversation.title), as_html(conversation.id)
    off = "" if conversation.memory else ", memory off"
    return (
        f'<li><button type="button" class="open" data-id="{number}"{current}>'
        f'<span class="title">{title}</span>'
        f'<span class="quiet">{_when(conversation.created_at)}{off}</span></button>'
        f"{_options(number, title) if is_open else ''}</li>"
    )


def _options(number: str, title: str) -> str:
    return (
        '<details class="options"><summary>Rename, export or delete</summary>'
        f'<input type="text" aria-label="Title" value="{title}" maxlength="60">'
        f'<span class="buttons">{_button(number, "rename", "Rename", "data-default")}'
        f"{_button(number, 'export', 'Export')}</span>"
        '<details><summary class="delete">Delete</summary>'
        '<span class="sure">With what only it taught?</span>'
        f"{_button(number, 'delete', 'Yes, delete', 'class=danger')}</details></details>"
    )


def _button(number: str, act: str, label: str, more: str = "") -> str:
    return f'<button type="button" data-id="{number}" data-act="{act}" {more}>{label}</button>'


def _when(created_at: datetime) -> str:
    local = created_at.astimezone()
    today = datetime.now(UTC).astimezone().date()
    return f"{local:%H:%M}" if local.date() == today else day(local.date())
