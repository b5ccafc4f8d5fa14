"""README.md and docs/ are true where a machine can tell."""

import asyncio
import contextlib
import io
import re
from pathlib import Path

import pytest

from app.settings import FOR_TESTS, PREFIX, Settings
from scripts.pages.command_list import command_names
from scripts.pages.file_list import PACKAGES
from scripts.pages.markdown_page import anchor, headings, relative_links
from scripts.readme import PAGES, README, ROOT, rendered
from tests.app.api.api_server import served

DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
LINKED = ["README.md", "CONTRIBUTING.md", "DECISIONS.md", "CHANGELOG.md", *DOCS]
MOST_LINES = 200
COMMAND = re.compile(r"\binferscale (?!inferscale)([a-z]+)\b(?: ([a-z][a-z-]+)\b)?")
FOLDERS = "|".join([*PACKAGES, "tests", "ops"])
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
READING_ORDER = [
    "ui/chat/turn.py",
    "app/service.py",
    "agent/reply/reply_graph.py",
    "memory_engine/prompt/layout.py",
    "memory_engine/generator.py",
    "memory_engine/engines/vllm_engine.py",
    "memory_engine/connector/scheduler.py",
    "memory_engine/connector/worker.py",
]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def broken(name: str) -> list[str]:
    """The links of a page that lead to no file, or to no heading of it."""
    return [link for link in relative_links(read(name)) if not leads_somewhere(name, link)]


def leads_somewhere(name: str, link: str) -> bool:
    path, _, place = link.partition("#")
    target = ((ROOT / name).parent / path).resolve() if path else ROOT / name
    if not target.exists() or not place:
        return target.exists()
    return place in map(anchor, headings(target.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", PAGES)
def test_generated_parts_are_those_of_code_and_reports(name: str) -> None:
    assert rendered(name) == read(name), "run `make readme`"


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", LINKED)
def test_links_lead_to_files_and_headings(name: str) -> None:
    assert broken(name) == []


@pytest.mark.parametrize("name", LINKED)
def test_named_files_exist(name: str) -> None:
    named = {path.rstrip(".") for path in re.findall(rf"[`( ]((?:{FOLDERS})/[\w./-]+)", read(name))}
    here = (ROOT, (ROOT / name).parent)
    assert sorted(p for p in named if not any((at / p).exists() for at in here)) == []


@pytest.mark.parametrize("name", ["README.md", *DOCS])
def test_named_commands_exist(name: str) -> None:
    known = command_names()
    groups = {each.split()[0] for each in known if " " in each}
    wrong = []
    for first, second in COMMAND.findall(read(name)):
        if first not in known or (second and first in groups and f"{first} {second}" not in known):
            wrong.append(f"{first} {second}".strip())
    assert wrong == []


@pytest.mark.parametrize("name", ["README.md", *DOCS])
def test_named_settings_exist(name: str) -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z_]*[A-Z]\b", read(name)))
    known = {PREFIX + setting.upper() for setting in Settings.model_fields}
    assert sorted(each for each in named - known if not each.startswith(FOR_TESTS)) == []


@pytest.mark.parametrize("name", ["README.md", *DOCS])
def test_named_targets_of_make_exist(name: str) -> None:
    targets = re.findall(r"^([a-z-]+)(?= ?[a-z-]*:)", read("Makefile"), re.MULTILINE)
    named = re.findall(r"`make ([a-z]+)|^make ([a-z]+)", read(name), re.MULTILINE)
    assert sorted({"".join(each) for each in named} - {*targets, "docs"}) == []


def test_the_reading_order_is_eight_files_that_exist() -> None:
    listed = re.findall(r"^\d\. \[([\w/.]+)\]\(\1\): ", README.read_text(encoding="utf-8"), re.M)
    assert listed == READING_ORDER
    assert [path for path in listed if not (ROOT / path).is_file()] == []


async def test_the_python_of_the_readme_runs_as_it_stands_there(tmp_path: Path) -> None:
    examples = EXAMPLE.findall(read("README.md"))
    assert len(examples) == 2, "a client of OpenAI's, and a LangGraph graph"
    async with served(tmp_path) as at:
        program = "\n".join(examples).replace("127.0.0.1:7860", f"127.0.0.1:{at.port}")
        printed = io.StringIO()

        def run() -> None:
            with contextlib.redirect_stdout(printed):
                exec(compile(program, "README.md", "exec"), {})

        await asyncio.to_thread(run)
        await at.parts.service.settle("ann")
        facts = [fact.text for fact in await at.parts.service.facts("ann")]
    assert facts == ["My dog is called Biscuit."]
    assert printed.getvalue().count("All right then.") == 3
