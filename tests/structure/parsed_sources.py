"""The repository's Python files as syntax trees, for the rules of its shape."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import PurePath

from scripts.readme import ROOT, source_files

PRODUCT = ("inferscale", "benchmarks", "ui", "app", "agent", "memory_engine")
REPOSITORY = (*PRODUCT, "scripts", "tests")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """A Python file: its path below the root, with slashes, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed text."""
        return ast.parse(self.text)

    @property
    def stem(self) -> str:
        """The file's name without `.py`."""
        return PurePath(self.path).stem

    @property
    def folder(self) -> str:
        """The path of the folder that it is in."""
        return PurePath(self.path).parent.as_posix()

    @property
    def package(self) -> str:
        """The top-level package that it belongs to."""
        return PurePath(self.path).parts[0]

    def imports(self) -> Iterator[str]:
        """The absolute names of the modules it imports, wherever in the file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = PurePath(self.path).parent.parts
                if node.level:
                    above = above[: len(above) - node.level + 1]
                    yield ".".join([*above, *filter(None, [node.module])])
                else:
                    yield str(node.module)

    def calls(self) -> Iterator[ast.Call]:
        """Its calls."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))

    def classes(self) -> Iterator[ast.ClassDef]:
        """Its classes."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))

    def functions(self) -> Iterator[Function]:
        """Its functions and methods, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))


@cache
def _all() -> tuple[Source, ...]:
    return tuple(Source(path, (ROOT / path).read_text(encoding="utf-8")) for path in source_files())


def sources(*folders: str) -> list[Source]:
    """The files below these folders."""
    return [each for each in _all() if each.path.startswith(tuple(f"{f}/" for f in folders))]


def modules(of: Iterable[Source]) -> list[Source]:
    """Without each package's `__init__`."""
    return [each for each in of if each.stem != "__init__"]


def snake_case(name: str) -> str:
    """`StandInMemory` as `stand_in_memory`; what is in snake case stays."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def refuse(found: Iterable[str]) -> None:
    """Raise AssertionError with all that was found, if anything was."""
    lines = "\n".join(found)
    if lines:
        raise AssertionError(f"\n{lines}")
