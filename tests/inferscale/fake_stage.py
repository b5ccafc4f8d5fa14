"""Fakes for commands: an engine and a memory that read their prompt."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from app.settings import PREFIX, Settings
from inferscale.commands import app
from memory_engine.engines.base import Engine
from memory_engine.engines.fake import FakeEngine
from memory_engine.types import Prompt
from tests.agent.fake_memory import FakeMemory, text_of


def found_fact(prompt: Prompt) -> str:
    """The sentence of the prompt that shares most long words with the question."""
    *known, question = re.split(r"[.\n]", text_of(prompt).rsplit("\nassistant", 1)[0])
    asked = set(re.findall(r"\w{4,}", question.lower()))
    return max(known, key=lambda s: len(asked & set(re.findall(r"\w+", s.lower()))), default="")


class FakeStage:
    """The command line over a fake engine and a fake memory; keeps the engines that were made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.engines: list[FakeEngine] = []
        self.reply: Callable[[Prompt], str] = found_fact
        self.options: dict[str, Any] = {}
        model = folder / "model"
        model.mkdir()
        (model / "config.json").write_text('{"model_type": "llama"}')
        (model / "model.safetensors").touch()
        for name in Settings.model_fields:
            monkeypatch.delenv(PREFIX + name.upper(), raising=False)
        monkeypatch.setenv("INFERSCALE_DATA_DIR", str(folder / "data"))
        monkeypatch.setenv("INFERSCALE_MODEL", str(model))
        monkeypatch.setenv("INFERSCALE_EMBEDDING_MODEL", str(model))
        monkeypatch.setenv("INFERSCALE_EXTRACTOR", "rules")
        monkeypatch.setattr("app.composition.build_engine", self._engine)
        monkeypatch.setattr(
            "app.composition.build_memory", lambda s, engine, *_: FakeMemory(engine)
        )

    def _engine(self, model: str, arguments: dict[str, Any]) -> Engine:
        self.engines.append(FakeEngine(self.reply, max_model_len=100_000, **self.options))
        return self.engines[-1]

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    def json(self, *arguments: str) -> Any:
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        assert result.stdout.count("\n") == 1, "exactly one line"
        return json.loads(result.stdout)
