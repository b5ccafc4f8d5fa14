"""The shape of the code: imports go one way, files are small, nothing names a machine."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.readme import ROOT, source_files

LAYERS = ("ui", "app", "agent", "memory_engine")
MOST_LINES = 400
CONNECTOR = "memory_engine/connector"
CONNECTOR_MAY = {
    "torch",
    "vllm",
    "numpy",
    "safetensors",
    "prometheus_client",
} | sys.stdlib_module_names
NOT_IN_ENGINE = {"sqlalchemy", "alembic", "langgraph", "langchain_core", "gradio", "fastapi"}
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(work|tmp|root|opt|home|mnt|farm)/[\w.]")


def code_of(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def imports_of(path: str) -> Iterator[str]:
    """The absolute names of the modules that a file imports, wherever in the file."""
    for node in ast.walk(code_of(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = Path(path).parent.parts
            if node.level:
                package = package[: len(package) - node.level + 1]
                yield ".".join([*package, *filter(None, [node.module])])
            else:
                yield str(node.module)


def sources(*folders: str) -> list[str]:
    return [path for path in source_files() if path.startswith(tuple(f"{f}/" for f in folders))]


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_one_way(layer: str) -> None:
    above = set(LAYERS[: LAYERS.index(layer)])
    upward = [
        f"{path} imports {name}"
        for path in sources(layer)
        for name in imports_of(path)
        if name.split(".")[0] in above
    ]
    assert upward == []


def test_the_memory_engine_knows_no_sql_graphs_or_pages() -> None:
    found = [
        f"{path} imports {name}"
        for path in sources("memory_engine")
        for name in imports_of(path)
        if name.split(".")[0] in NOT_IN_ENGINE
    ]
    assert found == []


def test_the_connector_needs_only_torch_vllm_and_itself() -> None:
    found = [
        f"{path} imports {name}"
        for path in sources(CONNECTOR)
        for name in imports_of(path)
        if name.split(".")[0] not in CONNECTOR_MAY
        and not name.startswith("memory_engine.connector")
    ]
    assert found == []


def test_nothing_that_is_read_can_run_code() -> None:
    """mem0#4833: an index that is kept as a pickle."""
    found = [
        f"{path} imports {name}"
        for path in sources(*LAYERS)
        for name in imports_of(path)
        if name.split(".")[0] in {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
    ]
    calls = [
        f"{path} calls {ast.unparse(node.func)}"
        for path in sources(*LAYERS)
        for node in ast.walk(code_of(path))
        if isinstance(node, ast.Call)
        and (
            ast.unparse(node.func) == "torch.load"
            or any(keyword.arg == "allow_pickle" for keyword in node.keywords)
        )
    ]
    assert found + calls == []


def test_no_file_is_long() -> None:
    lengths = {path: len((ROOT / path).read_text().splitlines()) for path in source_files()}
    assert {path: n for path, n in lengths.items() if n > MOST_LINES} == {}


def test_every_module_says_what_it_is() -> None:
    assert [path for path in source_files() if not ast.get_docstring(code_of(path))] == []


def test_every_package_is_installed() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    packages = {
        str(path.parent.relative_to(ROOT)).replace("/", ".")
        for layer in LAYERS
        for path in (ROOT / layer).rglob("__init__.py")
    }
    assert sorted(name for name in packages if f'"{name}"' not in project) == []


def test_no_file_names_a_path_of_one_machine() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found = []
    for name in sorted(set(listed.stdout.splitlines())):
        file = ROOT / name
        if not file.is_file() or file.suffix in {".png", ".jpg", ".woff2"}:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if MACHINE_PATH.search(line) and "MACHINE_PATH" not in line:
                found.append(f"{name}:{number}: {line.strip()}")
    assert found == []
