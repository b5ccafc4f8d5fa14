"""The README is true where a machine can tell."""

from collections import Counter

from scripts.readme import ENTRY, README, rendered, source_files

PACKAGES = ("ui", "app", "agent", "memory_engine", "migrations", "scripts", "tests")


def listed() -> list[str]:
    return [entry["path"] for entry in ENTRY.finditer(README.read_text(encoding="utf-8"))]


def test_every_file_is_listed_exactly_once() -> None:
    counted = Counter(listed())
    assert [path for path in source_files() if counted[path] != 1] == []
    assert sorted(counted) == source_files()


def test_files_are_listed_in_the_order_of_the_flow() -> None:
    order = [PACKAGES.index(path.split("/")[0]) for path in listed()]
    assert order == sorted(order)


def test_descriptions_and_settings_are_those_of_the_code() -> None:
    text = README.read_text(encoding="utf-8")
    assert rendered(text) == text, "run `make readme`"
