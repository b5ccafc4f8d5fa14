"""Fills the generated parts of README.md: files, figures, settings, models."""

import ast
import re
import subprocess
from pathlib import Path, PurePath

from app.models import family_report as families
from inferscale.settings_table import as_markdown
from scripts import measured

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
ENTRY = re.compile(r"^- `(?P<path>[\w/.]+\.py)`.*$", re.MULTILINE)
SETTINGS = re.compile(r"(?<=<!-- settings -->\n).*(?=<!-- end of settings -->)", re.DOTALL)
MEASURED = re.compile(r"(?<=<!-- measured -->\n).*(?=<!-- end of measured -->)", re.DOTALL)
MODELS = re.compile(r"(?<=<!-- models -->\n).*(?=<!-- end of models -->)", re.DOTALL)


def rendered(readme: str) -> str:
    """The README with its generated parts as the code is now.

    Files keep their order; a new one comes behind the others of its folder, from where a
    person moves it to its place in the flow.
    """
    files = source_files()
    lines = [line for line in readme.split("\n") if _path(line) in (None, *files)]
    for path in files:
        if path not in map(_path, lines):
            lines.insert(_place(path, lines), _line(path))
    readme = ENTRY.sub(lambda entry: _line(entry["path"]), "\n".join(lines))
    readme = MEASURED.sub(lambda _: measured.block(ROOT), readme)
    readme = SETTINGS.sub(lambda _: f"{as_markdown()}\n", readme)
    return MODELS.sub(lambda _: f"{_models()}\n", readme)


def source_files() -> list[str]:
    """Every Python file that git tracks or would track, but empty ones; relative paths."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    paths = sorted(set(listed.stdout.splitlines()))
    return [path for path in paths if (ROOT / path).is_file() and (ROOT / path).stat().st_size]


def summary(path: str) -> str:
    """The first line of the file's docstring."""
    docstring = ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    return (docstring or "(no docstring)").splitlines()[0]


def _models() -> str:
    report = families.known()
    if report is None:
        raise FileNotFoundError(f"{families.KNOWN} is missing: {families.COMMAND} makes it")
    return families.as_markdown(report)


def _line(path: str) -> str:
    return f"- `{path}` {summary(path)}"


def _path(line: str) -> str | None:
    entry = ENTRY.match(line)
    return entry["path"] if entry else None


def _place(path: str, lines: list[str]) -> int:
    """Behind the last entry of the nearest folder that has any."""
    for folder in PurePath(path).parents:
        inside = [
            n for n, line in enumerate(lines) if folder in PurePath(_path(line) or "/").parents
        ]
        if inside:
            return inside[-1] + 1
    raise ValueError("README.md lists no files")


if __name__ == "__main__":
    README.write_text(rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
