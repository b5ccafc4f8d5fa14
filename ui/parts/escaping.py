"""Escaping of text for Markdown and HTML, and the formats of dates, sizes and durations."""

import re
from datetime import date, datetime
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


def moment(when: datetime | None) -> str:
    """An instant in the server's time zone as `3 May 2026, 14:05`, or nothing."""
    return f"{day(when.astimezone())}, {when.astimezone():%H:%M}" if when else ""


def size(number: int) -> str:
    """A number of bytes: `512 B`, `1.5 KiB`, `96 MiB`."""
    value, units = float(number), ["B", "KiB", "MiB", "GiB", "TiB"]
    while round(value) >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return (
        f"{value:.1f} {units[0]}" if value < 10 and units[0] != "B" else f"{value:.0f} {units[0]}"
    )


def milliseconds(value: float) -> str:
    """A duration with the digits a reader can use: `41 ms`, `4.2 ms`, `2.85 s`."""
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def counted(number: int, noun: str) -> str:
    """`1 fact`, `2 facts`, `1,840 tokens`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
