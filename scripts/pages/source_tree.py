"""The Python files of the repository, and the first lines of their docstrings."""

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def source_files() -> list[str]:
    """Every Python file that git tracks or would track, but empty ones; relative paths."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    paths = sorted(set(listed.stdout.splitlines()))
    return [path for path in paths if (ROOT / path).is_file() and (ROOT / path).stat().st_size]


def docstring(path: str) -> str:
    """The file's docstring, or "" where there is no file or no docstring."""
    if not (ROOT / path).is_file():
        return ""
    return ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8"))) or ""


def summary(path: str) -> str:
    """The first line of the file's docstring."""
    return (docstring(path) or "(no docstring)").splitlines()[0]
