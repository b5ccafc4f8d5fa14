"""Inspection of an SQLite file's free pages, which keep deleted rows unless overwritten.

The file's format: https://www.sqlite.org/fileformat2.html, section 1.5.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

FIRST_TRUNK = 32  # offset in the header, behind it the count of free pages


@dataclass(frozen=True, slots=True)
class FreePages:
    """Counts of free pages: all of them, and those that still hold something."""

    count: int
    full: int


def free_pages(file: Path) -> FreePages:
    """Look at every free page of a database that is checkpointed and not being written."""
    with file.open("rb") as database:
        header = database.read(100)
        size = int.from_bytes(header[16:18], "big")
        size = 65536 if size == 1 else size
        trunk, pages = _number(header, FIRST_TRUNK), file.stat().st_size // size
        count, full = 0, 0
        while trunk:
            page = _page(database, trunk, size)
            leaves = _number(page, 4)
            count += 1 + leaves
            full += not _only_numbers(page[8 + 4 * leaves :], pages)
            for n in range(leaves):
                full += any(_page(database, _number(page, 8 + 4 * n), size))
            trunk = _number(page, 0)
    return FreePages(count, full)


def _only_numbers(data: bytes, pages: int) -> bool:
    """Whether it is what a list leaves behind that grew shorter: numbers of pages, or zeros."""
    return all(_number(data, offset) <= pages for offset in range(0, len(data) - 3, 4))


def _page(database: BinaryIO, number: int, size: int) -> bytes:
    database.seek((number - 1) * size)
    return database.read(size)


def _number(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 4], "big")
