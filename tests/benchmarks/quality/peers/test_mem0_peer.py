"""Mem0 as a peer: its questions, its answers, and the message without it."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.quality.datasets.locomo import load
from benchmarks.quality.peers import mem0_process
from benchmarks.quality.peers.mem0_peer import ask_mem0
from benchmarks.quality.retrieval.evidence import evidence_task
from memory_engine.errors import SettingsError
from tests.benchmarks.quality.datasets.locomo_builder import written


class Mem0Memory:
    """The part of Mem0's interface that is used; it finds the facts that share most words."""

    def __init__(self) -> None:
        self.added: list[tuple[str, str, dict[str, str]]] = []
        self.config: dict[str, Any] = {}

    def from_config(self, config: dict[str, Any]) -> "Mem0Memory":
        self.config = config
        return self

    def add(self, text: str, *, user_id: str, metadata: dict[str, str], infer: bool) -> None:
        assert not infer
        self.added.append((user_id, text, metadata))

    def search(
        self, query: str, *, filters: dict[str, str], top_k: int, threshold: float
    ) -> dict[str, Any]:
        assert threshold == 0
        asked = set(query.split())
        mine = [a for a in self.added if a[0] == filters["user_id"]]
        mine.sort(key=lambda a: -len(asked & set(a[1].split())))
        return {"results": [{"metadata": metadata} for *_, metadata in mine[:top_k]]}


def test_the_process_adds_and_searches_for_each_owner_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer, module = Mem0Memory(), ModuleType("mem0")
    module.Memory = peer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mem0", module)
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"{name} 9")
    owners = [
        {"owner": "a", "facts": [["f1", "I ski"], ["f2", "I own a boat"]],
         "questions": [["q1", "Which boat"]]},
        {"owner": "b", "facts": [["f3", "I own a boat too"]], "questions": [["q2", "boat"]]},
    ]  # fmt: skip
    task, answer = tmp_path / "task.json", tmp_path / "answer.json"
    task.write_text(json.dumps({"model": "folder", "dimension": 3, "k": 1, "owners": owners}))
    mem0_process.main(str(task), str(answer))
    told = json.loads(answer.read_text())
    assert told["found"] == {"q1": ["f2"], "q2": ["f3"]}
    assert told["version"] == "mem0ai 9"
    assert (len(told["add_ms"]), len(told["search_ms"])) == (3, 2)
    assert peer.config["embedder"]["config"] == {"model": "folder", "embedding_dims": 3}


async def test_an_interpreter_without_mem0_is_told_with_what_to_do(tmp_path: Path) -> None:
    tasks = [evidence_task(each) for each in load(written(tmp_path))]
    with pytest.raises(SettingsError, match=r"Mem0 does not run under .*uv venv mem0"):
        await ask_mem0(Path(sys.executable), tmp_path, 384, tasks, 5)


async def test_a_path_that_is_no_interpreter_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be started"):
        await ask_mem0(tmp_path / "no-python", tmp_path, 384, [], 5)
