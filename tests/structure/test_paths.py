"""No file names a path of one machine."""

import re
import subprocess
from collections.abc import Iterator

from scripts.readme import ROOT

MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(work|tmp|root|opt|home|mnt|farm)/[\w.]")
NO_TEXT = {".png", ".jpg", ".woff2"}


def machine_paths(text: str) -> Iterator[str]:
    """The lines that name one, each with its number."""
    for number, line in enumerate(text.splitlines(), start=1):
        if MACHINE_PATH.search(line) and "MACHINE_PATH" not in line:
            yield f"{number}: {line.strip()}"


def test_no_file_names_a_path_of_one_machine() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found = [
        f"{name}:{line}"
        for name in sorted(set(listed.stdout.splitlines()))
        if (ROOT / name).is_file() and (ROOT / name).suffix not in NO_TEXT
        for line in machine_paths((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_path_of_one_machine_is_seen() -> None:
    home = "/".join(["", "home", "ann"])
    assert list(machine_paths(f"x\ncd {home}/x")) == [f"2: cd {home}/x"]
    assert list(machine_paths(f"https://example.org{home}")) == []
