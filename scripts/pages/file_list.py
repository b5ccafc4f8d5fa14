"""All Python files in the order in which a message meets them, as Markdown."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from scripts.pages.source_tree import docstring, source_files, summary

PACKAGES = ("inferscale", "ui", "app", "agent", "memory_engine", "benchmarks", "scripts")
# Folders of a package, in the order of the flow; any other comes behind these, by name.
FLOW = (
    *("inferscale/serve", "inferscale/memory", "inferscale/measure"),
    *("ui/shell", "ui/chat", "ui/conversations", "ui/memory", "ui/timings"),
    *("app/api", "app/auth", "app/models"),
    *("agent/reply", "agent/remember", "agent/extraction", "agent/facts"),
    *("agent/conversations", "agent/db"),
    *("memory_engine/retrieval", "memory_engine/prompt", "memory_engine/encoding"),
    *("memory_engine/engines", "memory_engine/connector", "memory_engine/families"),
    *("memory_engine/connector/protocol", "memory_engine/connector/segments"),
    *("memory_engine/connector/gpu",),
    *("benchmarks/speed", "benchmarks/quality", "benchmarks/capacity"),
)


def as_markdown() -> str:
    """A heading a package, a list a folder, a line a file; tests by folder with their number."""
    return "\n".join(_lines(source_files())) + "\n"


def ordered(folder: str, files: list[str]) -> list[str]:
    """The files under `folder`: its own in reading order, then those of its folders.

    The reading order is the order in which the docstring of the folder's `__init__` names
    the files; files that it does not name follow by name.
    """
    own = [path for path in files if str(PurePath(path).parent) == folder]
    below = {
        f"{folder}/{path.removeprefix(f'{folder}/').split('/')[0]}"
        for path in files
        if path.startswith(f"{folder}/") and path not in own
    }
    plan = docstring(f"{folder}/__init__.py")
    listed = sorted(own, key=lambda path: (_position(PurePath(path).stem, plan), path))
    for each in sorted(below, key=lambda name: (FLOW.index(name) if name in FLOW else 99, name)):
        listed += ordered(each, files)
    return listed


def _position(stem: str, plan: str) -> float:
    """The place where a package's docstring names a file."""
    if stem == "__init__":
        return -1
    name = re.escape(stem)
    for pattern in (rf"\b{name}\.py\b|`{name}`", rf"(?m)^[ \-*`]*{name}\b", rf"\n.*\b{name}\b"):
        found = re.search(pattern, plan)
        if found:
            return found.end()
    return len(plan) + 1


def _lines(files: list[str]) -> Iterator[str]:
    for package in PACKAGES:
        yield f"## `{package}`\n"
        folder = package
        for path in ordered(package, files):
            parent = str(PurePath(path).parent)
            if parent != folder:
                folder = parent
                yield f"\n### `{folder}`\n"
            yield f"- `{path}` {summary(path)}"
        yield ""
    yield "## `tests`\n"
    yield "They mirror the tree.\n"
    yield "| folder | test files |"
    yield "| --- | --- |"
    tests = [PurePath(path) for path in files if PurePath(path).name.startswith("test_")]
    for place, count in sorted(Counter(str(path.parent) for path in tests).items()):
        yield f"| `{place}` | {count} |"
