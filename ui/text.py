"""User and model text made safe for Markdown and HTML: what was typed is what is seen."""

import re
from datetime import date
from html import escape

_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.DOTALL)
_MARKS = re.compile(r"([\\`*_\[\]#~|$])")


def verbatim(text: str) -> str:
    """Markdown that renders as exactly `text`: no mark-up, no HTML."""
    return escape(_MARKS.sub(r"\\\1", text), quote=False)


def as_markdown(text: str) -> str:
    """Markdown in which HTML outside code is shown and not interpreted."""
    parts = _CODE.split(text)
    return "".join(
        part if number % 2 else escape(part, quote=False) for number, part in enumerate(parts)
    )


def as_html(text: str) -> str:
    """HTML of plain text, for element content and attributes."""
    return escape(text, quote=True)


def day(when: date | None) -> str:
    """A date as `3 May 2026`, or nothing."""
    return f"{when.day} {when:%b %Y}" if when else ""


def milliseconds(value: float) -> str:
    """A duration with the digits a reader can use: `41 ms`, `4.2 ms`, `2.85 s`."""
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def counted(number: int, noun: str) -> str:
    """`1 fact`, `2 facts`, `1,840 tokens`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
