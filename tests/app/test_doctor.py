"""Findings of the doctor on a machine without a model."""

from pathlib import Path

import pytest

from app.doctor import Check, examine
from app.settings import Settings
from memory_engine.engines.fake import FakeEngine


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "llama"}')
    (model / "model.safetensors").touch()
    return Settings(data_dir=tmp_path / "data", model=str(model), embedding_model=str(model))


async def checked(
    settings: Settings, engine: FakeEngine | None = None, with_engine: bool = False
) -> dict[str, Check]:
    checks = await examine(
        settings, with_engine=with_engine, progress=lambda text: None, engine=engine
    )
    return {check.name: check for check in checks}


async def test_every_part_is_looked_at(settings: Settings) -> None:
    found = await checked(settings)
    assert list(found) == [
        "settings",
        "hardware",
        "versions",
        "disk",
        "database",
        "language model",
        "embedding model",
        "model families",
        "conformance",
    ]
    assert found["database"].ok, found["database"].to_do
    assert "revision" in found["database"].found
    assert found["conformance"].found == "not checked"


async def test_a_problem_comes_with_what_to_do(settings: Settings, tmp_path: Path) -> None:
    broken = settings.model_copy(
        update={"model": str(tmp_path / "nowhere"), "database_url": "sqlite+aiosqlite:///:memory:"}
    )
    found = await checked(broken)
    assert not found["language model"].ok
    assert "INFERSCALE_MODEL" in found["language model"].to_do
    assert not found["database"].ok
    assert "inferscale migrate" in found["database"].to_do


async def test_an_unknown_variable_is_a_problem(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFERSCALE_PROT", "1")
    found = await checked(settings)
    assert not found["settings"].ok
    assert "INFERSCALE_PROT" in found["settings"].to_do


async def test_the_conformance_result_is_told_and_the_engine_stopped(settings: Settings) -> None:
    engine = FakeEngine()
    found = await checked(settings, engine, with_engine=True)
    assert found["conformance"].ok
    assert "passed" in found["conformance"].found
    assert not engine.running


async def test_a_refused_model_is_a_problem_with_its_reason(settings: Settings) -> None:
    found = await checked(settings, FakeEngine(supported=False), with_engine=True)
    assert not found["conformance"].ok
    assert "told to refuse" in found["conformance"].found
    assert "text mode" in found["conformance"].to_do
