"""Imports go one way, the connector stands alone, and nothing that is read can run code."""

import ast
import sys
from collections.abc import Iterable

import pytest

from tests.structure.parsed_sources import PRODUCT, REPOSITORY, Source, refuse, sources

# inferscale -> {benchmarks, ui} -> app -> agent -> memory_engine
MAY_IMPORT = {
    "inferscale": {"benchmarks", "ui", "app", "agent", "memory_engine"},
    "benchmarks": {"app", "agent", "memory_engine"},
    "ui": {"app", "agent", "memory_engine"},
    "app": {"agent", "memory_engine"},
    "agent": {"memory_engine"},
    "memory_engine": set(),
}
CONNECTOR = "memory_engine/connector"
CONNECTOR_MAY = {
    "torch",
    "vllm",
    "numpy",
    "safetensors",
    "prometheus_client",
} | sys.stdlib_module_names
NOT_IN_ENGINE = {"sqlalchemy", "alembic", "langgraph", "langchain_core", "gradio", "fastapi"}
PICKLES = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
# These import the module whose name they are given.
IMPORTERS = {"import_module", "__import__", "run_module", "resolve_name"}


def upward(of: Iterable[Source]) -> list[str]:
    """The imports of a package of ours that its importer is not above."""
    return [
        f"{source.path} imports {name}"
        for source in of
        for name in source.imports()
        if (root := name.split(".")[0]) in REPOSITORY
        and root not in MAY_IMPORT[source.package] | {source.package}
    ]


def hidden(of: Iterable[Source]) -> list[str]:
    """The imports by name that are of ours, or of whatever a variable says."""
    found = []
    for source in of:
        for call in source.calls():
            if ast.unparse(call.func).split(".")[-1] not in IMPORTERS:
                continue
            given = [*call.args, *(word.value for word in call.keywords)]
            name = given[0].value if given and isinstance(given[0], ast.Constant) else None
            # What begins with a dot, and so with nothing, is relative: ours.
            if not isinstance(name, str) or name.split(".")[0] in (*REPOSITORY, ""):
                found.append(f"{source.path}:{call.lineno} imports by {ast.unparse(call)}")
    return found


def imported(of: Iterable[Source], names: set[str]) -> list[str]:
    """The imports of any of these top-level packages."""
    return [
        f"{source.path} imports {name}"
        for source in of
        for name in source.imports()
        if name.split(".")[0] in names
    ]


def foreign_to_the_connector(of: Iterable[Source]) -> list[str]:
    """The imports that vLLM's processes might not have, or need not load."""
    return [
        f"{source.path} imports {name}"
        for source in of
        for name in source.imports()
        if name.split(".")[0] not in CONNECTOR_MAY
        and not f"{name}.".startswith("memory_engine.connector.")
    ]


def unpickling(of: Iterable[Source]) -> list[str]:
    """The calls that load a pickle."""
    return [
        f"{source.path} calls {ast.unparse(call.func)}"
        for source in of
        for call in source.calls()
        if ast.unparse(call.func) == "torch.load"
        or any(keyword.arg == "allow_pickle" for keyword in call.keywords)
    ]


@pytest.mark.parametrize("package", PRODUCT)
def test_imports_go_one_way(package: str) -> None:
    refuse(upward(sources(package)))


@pytest.mark.parametrize("package", PRODUCT)
def test_nothing_of_ours_is_imported_by_its_name(package: str) -> None:
    refuse(hidden(sources(package)))


def test_the_memory_engine_knows_no_sql_graphs_or_pages() -> None:
    assert imported(sources("memory_engine"), NOT_IN_ENGINE) == []


def test_the_connector_needs_only_torch_vllm_and_itself() -> None:
    refuse(foreign_to_the_connector(sources(CONNECTOR)))


def test_nothing_that_is_read_can_run_code() -> None:
    """mem0#4833: an index that is kept as a pickle."""
    product = sources(*PRODUCT)
    refuse(imported(product, PICKLES) + unpickling(product))


@pytest.mark.parametrize(
    ("path", "text", "allowed"),
    [
        ("app/x.py", "import ui.chat", False),
        ("app/x.py", "def f():\n    from ui import chat", False),
        ("app/x.py", "import agent, ui", False),
        ("ui/x.py", "import benchmarks", False),
        ("benchmarks/x.py", "from ui.shell import theme", False),
        ("agent/facts/x.py", "from ..db import tables", True),
        ("app/x.py", "import tests.agent", False),
        ("inferscale/x.py", "import ui, benchmarks, agent.db", True),
        ("memory_engine/x.py", "import json, torch", True),
    ],
)
def test_an_upward_import_is_seen(path: str, text: str, allowed: bool) -> None:
    assert (upward([Source(path, text)]) == []) == allowed


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ('importlib.import_module("ui").create_app()', False),
        ('import_module("agent.db")', False),
        ('import_module(".db", "agent")', False),
        ('import_module(name="ui")', False),
        ('__import__("memory_engine")', False),
        ('NAME = "u" + "i"\nimport_module(NAME)', False),
        ('import_module("faiss")', True),
    ],
)
def test_an_import_by_name_is_seen(text: str, allowed: bool) -> None:
    assert (hidden([Source("app/x.py", text)]) == []) == allowed


def test_what_the_connector_may_not_import_is_seen() -> None:
    text = "import torch, httpx\nfrom memory_engine import errors\n"
    text += "from memory_engine.connector import worker"
    found = foreign_to_the_connector([Source(f"{CONNECTOR}/x.py", text)])
    assert [line.split()[-1] for line in found] == ["httpx", "memory_engine"]


def test_a_pickle_is_seen() -> None:
    source = Source("app/x.py", "import pickle\ntorch.load(f)\nnp.load(f, allow_pickle=True)")
    assert imported([source], PICKLES) == ["app/x.py imports pickle"]
    assert len(unpickling([source])) == 2
