"""docs/files.md: every file once, packages in the order of the flow, files in reading order."""

import re
from pathlib import Path

import pytest

from scripts.pages import file_list, source_tree
from scripts.pages.file_list import FLOW, PACKAGES, as_markdown, ordered
from scripts.pages.source_tree import ROOT, source_files

ENTRY = re.compile(r"^- `([\w/.]+\.py)` ", re.MULTILINE)


@pytest.fixture
def _small_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_tree, "ROOT", tmp_path)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text(
        '"""The plan of a house.\n\n    roof.py   keeps rain out\n    `plan`    says it\n"""\n'
    )


def test_every_file_but_tests_is_listed_exactly_once() -> None:
    listed = ENTRY.findall(as_markdown())
    assert sorted(listed) == [path for path in source_files() if not path.startswith("tests/")]


def test_packages_stand_in_the_order_of_the_flow() -> None:
    order = [PACKAGES.index(path.split("/")[0]) for path in ENTRY.findall(as_markdown())]
    assert order == sorted(order)


def test_every_folder_that_has_a_place_is_there() -> None:
    assert [folder for folder in FLOW if not (ROOT / folder).is_dir()] == []


@pytest.mark.usefixtures("_small_tree")
def test_files_stand_as_the_docstring_of_their_package_names_them() -> None:
    files = [f"app/{name}.py" for name in ("__init__", "attic", "plan", "roof")]
    assert ordered("app", files) == [
        "app/__init__.py",
        "app/roof.py",
        "app/plan.py",
        "app/attic.py",
    ]


@pytest.mark.usefixtures("_small_tree")
def test_folders_follow_the_files_beside_them() -> None:
    files = ["app/zoo/a.py", "app/api/b.py", "app/attic.py", "app/auth/c.py"]
    assert ordered("app", files) == [
        "app/attic.py",
        "app/api/b.py",
        "app/auth/c.py",
        "app/zoo/a.py",
    ]


def test_tests_are_counted_by_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["tests/ui/test_a.py", "tests/ui/test_b.py", "tests/ui/fake_c.py"]
    monkeypatch.setattr(file_list, "source_files", lambda: files)
    assert as_markdown().endswith("| `tests/ui` | 2 |\n")
