"""The packages of the page: imports go from the shell down to the shared parts, in no circle."""

from pathlib import Path

import ui
from tests.test_structure import imports_of

ROOT = Path(str(ui.__file__)).parent
FLOORS = (("parts",), ("chat",), ("memory", "conversations", "timings"), ("shell",))


def test_each_package_imports_only_itself_and_those_below_it() -> None:
    wrong = []
    for floor, packages in enumerate(FLOORS):
        below = {name for lower in FLOORS[:floor] for name in lower}
        for package in packages:
            for file in (ROOT / package).glob("*.py"):
                path = str(file.relative_to(ROOT.parent))
                for name in imports_of(path):
                    first, *rest = name.split(".")
                    if first == "ui" and (not rest or rest[0] not in below | {package}):
                        wrong.append(f"{path} imports {name}")
    assert wrong == []
