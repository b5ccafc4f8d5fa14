"""Fills the generated parts of README.md: what each file is for, and the settings."""

import ast
import re
import subprocess
from pathlib import Path

from app.cli.settings_table import as_markdown

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
ENTRY = re.compile(r"^- `(?P<path>[\w/.]+\.py)`.*$", re.MULTILINE)
SETTINGS = re.compile(r"(?<=<!-- settings -->\n).*(?=<!-- end of settings -->)", re.DOTALL)


def rendered(readme: str) -> str:
    """The README with its generated parts as the code is now. Files keep their order."""
    readme = ENTRY.sub(lambda entry: _line(entry["path"]), readme)
    return SETTINGS.sub(lambda _: f"{as_markdown()}\n", readme)


def source_files() -> list[str]:
    """Every Python file that git tracks or would track, but empty ones; relative paths."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    paths = sorted(set(listed.stdout.splitlines()))
    return [path for path in paths if (ROOT / path).is_file() and (ROOT / path).stat().st_size]


def summary(path: str) -> str:
    """The first line of the file's docstring."""
    file = ROOT / path
    if not file.is_file():
        return "(no such file)"
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    return (docstring or "(no docstring)").splitlines()[0]


def _line(path: str) -> str:
    return f"- `{path}` {summary(path)}"


if __name__ == "__main__":
    text = rendered(README.read_text(encoding="utf-8"))
    README.write_text(text, encoding="utf-8")
    named = {entry["path"] for entry in ENTRY.finditer(text)}
    for path in source_files():
        if path not in named:
            print(f"not in the README yet: {_line(path)}")
