"""Files, functions and folders are small, and what is packaged is all of it."""

import tomllib
from collections import Counter
from collections.abc import Iterable

import pytest
from setuptools.discovery import PEP420PackageFinder

from scripts.readme import ROOT
from tests.structure.parsed_sources import PRODUCT, REPOSITORY, Source, modules, refuse, sources

MOST_LINES = 300
MOST_LINES_OF_A_FUNCTION = 40
MOST_MODULES = 14

LONG_FUNCTIONS = {
    ("agent/db/migrations/versions/0001_conversations.py", "_create_turns"): "released",
    ("agent/db/migrations/versions/0002_facts.py", "_create_facts"): "released",
    ("memory_engine/connector/gpu/kernels.py", "inject"): "one Triton kernel",
    ("memory_engine/connector/gpu/kernels.py", "encode"): "one Triton kernel",
}
FULL_FOLDERS: dict[str, str] = {}


def long_files(of: Iterable[Source]) -> list[str]:
    """The files of too many lines."""
    lengths = {each.path: len(each.text.splitlines()) for each in of}
    return [f"{path}: {n} lines" for path, n in lengths.items() if n > MOST_LINES]


def long_functions(of: Iterable[Source]) -> dict[tuple[str, str], int]:
    """The functions of too many lines, signature and docstring included."""
    return {
        (source.path, function.name): lines
        for source in of
        for function in source.functions()
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > MOST_LINES_OF_A_FUNCTION
    }


def full_folders(of: Iterable[Source]) -> dict[str, int]:
    """The folders of too many modules; a package's `__init__` is its map and does not count."""
    counts = Counter(each.folder for each in modules(of))
    return {folder: n for folder, n in counts.items() if n > MOST_MODULES}


def unpackaged(of: Iterable[Source], packages: Iterable[str]) -> list[str]:
    """The folders of modules that a wheel of these packages would lack."""
    folders = {each.folder.replace("/", ".") for each in of}
    return sorted(folders - set(packages))


def test_no_file_is_long() -> None:
    refuse(long_files(sources(*REPOSITORY)))


def test_no_function_is_long_but_those_with_a_reason() -> None:
    found = long_functions(sources(*REPOSITORY))
    refuse(f"{name}: {n}" for name, n in found.items() if name not in LONG_FUNCTIONS)
    assert set(LONG_FUNCTIONS) <= set(found), "an exception that nothing needs"


def test_no_folder_is_full_but_those_with_a_reason() -> None:
    found = full_folders(sources(*REPOSITORY))
    refuse(f"{name}: {n}" for name, n in found.items() if name not in FULL_FOLDERS)
    assert set(FULL_FOLDERS) <= set(found), "an exception that nothing needs"


def test_every_package_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    include = project["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = PEP420PackageFinder.find(str(ROOT), include=include)
    refuse(unpackaged(sources(*PRODUCT), packages))
    assert {name.split(".")[0] for name in packages} == set(PRODUCT)


@pytest.mark.parametrize(("lines", "allowed"), [(MOST_LINES, True), (MOST_LINES + 1, False)])
def test_a_long_file_is_seen(lines: int, allowed: bool) -> None:
    assert (long_files([Source("app/x.py", "x = 1\n" * lines)]) == []) == allowed


@pytest.mark.parametrize(("lines", "allowed"), [(40, True), (41, False)])
def test_a_long_function_is_seen_wherever_it_is(lines: int, allowed: bool) -> None:
    body = "        pass\n" * (lines - 1)
    source = Source("app/x.py", f"class A:\n    async def f(self):\n{body}")
    assert (long_functions([source]) == {}) == allowed


@pytest.mark.parametrize(("number", "allowed"), [(14, True), (15, False)])
def test_a_full_folder_is_seen(number: int, allowed: bool) -> None:
    folder = [Source(f"app/m{n}.py", "") for n in range(number)]
    others = [Source("app/__init__.py", ""), Source("app/api/x.py", "")]
    assert (full_folders([*folder, *others]) == {}) == allowed


def test_a_folder_that_is_not_packaged_is_seen() -> None:
    found = unpackaged([Source("app/x.py", ""), Source("app/api/x.py", "")], ["app"])
    assert found == ["app.api"]
