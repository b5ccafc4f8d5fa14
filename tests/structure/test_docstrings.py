"""First lines of docstrings say what a thing is, and packages have a map."""

import ast
import re
from collections.abc import Iterable, Iterator

import pytest

from tests.structure.parsed_sources import (
    PRODUCT,
    REPOSITORY,
    Function,
    Source,
    modules,
    refuse,
    sources,
)

QUESTION = re.compile(r"(What|Who|Whose|Which|How|Where|When|Is|Are|Does)\b")
# Alembic reads these two folders from the disk: they are no packages.
NO_PACKAGES = {"agent/db/migrations", "agent/db/migrations/versions"}


def questions(of: Iterable[Source]) -> list[str]:
    """The first lines that begin as a question does, of modules, classes, public functions."""
    return [
        f"{source.path}: {first}"
        for source in of
        for node in _documented(source.tree)
        if QUESTION.match(first := (ast.get_docstring(node) or "").split("\n")[0])
    ]


def _documented(
    node: ast.Module | ast.ClassDef,
) -> Iterator[ast.Module | ast.ClassDef | Function]:
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _documented(child)
        elif isinstance(child, Function) and not child.name.startswith("_"):
            yield child


def undescribed(of: Iterable[Source]) -> list[str]:
    """The modules whose docstring says nothing."""
    return [each.path for each in of if not re.search(r"\w", ast.get_docstring(each.tree) or "")]


def unmapped(of: Iterable[Source]) -> list[str]:
    """The packages whose `__init__` does not name every module and package in it."""
    files = list(of)
    maps = {each.folder: ast.get_docstring(each.tree) or "" for each in files if _is_map(each)}
    found = []
    for folder in sorted({each.folder for each in modules(files)} | set(maps)):
        inside = {each.stem for each in modules(files) if each.folder == folder}
        inside |= {name.rpartition("/")[2] for name in maps if name.rpartition("/")[0] == folder}
        text = maps.get(folder)
        if text is None:
            found.append(f"{folder} has no map")
        elif "\n" not in text:
            found.append(f"{folder}: its map is one line")
        elif missing := sorted(name for name in inside if not re.search(rf"\b{name}\b", text)):
            found.append(f"{folder}: its map lacks {', '.join(missing)}")
    return found


def _is_map(source: Source) -> bool:
    return source.stem == "__init__"


def test_no_first_line_is_a_question() -> None:
    refuse(questions(sources(*REPOSITORY)))


def test_every_module_says_what_it_is() -> None:
    refuse(undescribed(sources(*REPOSITORY)))


def test_every_package_has_a_map() -> None:
    packaged = [each for each in sources(*PRODUCT) if each.folder not in NO_PACKAGES]
    refuse(unmapped(packaged))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ('"""What it is."""', 1),
        ('"""Whether it is."""\ndef f(): ...', 0),
        ('class A:\n    """Who asks."""\n    def f(self):\n        """How it asks."""', 2),
        ('class _A:\n    """Where it is."""', 1),
        ('def _f():\n    """Which one."""\ndef g():\n    """Isolates."""', 0),
        ('async def f():\n    """Are we there?"""', 1),
    ],
)
def test_a_question_is_seen(text: str, number: int) -> None:
    assert len(questions([Source("app/x.py", text)])) == number


@pytest.mark.parametrize("text", ["", '""""""', '"""."""'])
def test_a_module_that_says_nothing_is_seen(text: str) -> None:
    assert undescribed([Source("app/x.py", text)]) == ["app/x.py"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""Serving.\n\n`chat` then `api`.\n"""', []),
        ('"""Chat and api: `chat`, `api`."""', ["app: its map is one line"]),
        ('"""Serving.\n\n`chats`\n"""', ["app: its map lacks api, chat"]),
    ],
)
def test_a_map_that_lacks_a_module_is_seen(text: str, found: list[str]) -> None:
    files = [Source("app/__init__.py", text), Source("app/chat.py", "")]
    api = Source("app/api/__init__.py", '"""API.\n\nEmpty."""')
    assert unmapped([*files, api]) == found


def test_a_package_without_a_map_is_seen() -> None:
    assert unmapped([Source("app/chat.py", "")]) == ["app has no map"]
