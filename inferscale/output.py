"""Output of commands: results on stdout, everything else on stderr."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TextIO

_results: TextIO | None = None


class ReportTable(NamedTuple):
    """The arguments of `table`: title, column names, and rows of cells."""

    title: str
    columns: list[str]
    rows: list[list[object]]


@contextmanager
def stdout_for_results() -> Iterator[None]:
    """Keep stdout for `say` and `say_json`.

    What libraries and child processes write to stdout goes to stderr instead: the engine's
    worker inherits file descriptor 1, so the descriptor itself is redirected.
    """
    global _results
    if _results is not None or not _is_descriptor_one(sys.stdout):
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    _results = os.fdopen(os.dup(kept), "w", encoding="utf-8")
    try:
        yield
    finally:
        try:
            _results.close()
        finally:
            _results = None
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def say(text: str = "", end: str = "\n") -> None:
    """Write a result to stdout, at once."""
    stream = _results or sys.stdout
    stream.write(text + end)
    stream.flush()


def say_json(value: Any) -> None:
    """Write one JSON line to stdout."""
    say(json.dumps(value, ensure_ascii=False))


def note(text: str) -> None:
    """Write progress, a warning or an error to stderr."""
    print(text, file=sys.stderr, flush=True)


def counted(number: int, noun: str) -> str:
    """Format a number with its noun: `1 fact`, `2 facts`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Format a text table under its title; columns of numbers are aligned to the right."""
    from rich.console import Console
    from rich.table import Table

    grid = Table()
    for number, name in enumerate(columns):
        numeric = all(isinstance(row[number], int | float) for row in rows)
        grid.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(_cell(value) for value in row))
    console = Console(width=120, no_color=True, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(grid)
    return f"{title}\n{captured.get().rstrip()}"


def _cell(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _is_descriptor_one(stream: TextIO) -> bool:
    try:
        return stream.fileno() == 1
    except (OSError, ValueError):  # a stream in memory, as in tests
        return False
