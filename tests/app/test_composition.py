"""Putting the parts together: the order of checks, and closing what was opened."""

from pathlib import Path

import pytest

from agent.extraction.llm_extractor import LlmExtractor
from agent.extraction.rule_extractor import RuleExtractor
from app.composition import choose_extractor, open_database, open_service, running_service
from app.settings import Settings, load_settings
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import (
    DatabaseReadOnlyError,
    DatabaseRevisionError,
    EngineError,
    ModelNotFoundError,
)
from tests.agent.fake_memory import FakeMemory


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "llama"}')
    (model / "model.safetensors").touch()
    monkeypatch.setattr("app.composition.build_memory", lambda s, engine, *_: FakeMemory(engine))
    return Settings(data_dir=tmp_path / "data", model=str(model), embedding_model=str(model))


async def test_a_service_opens_on_a_fresh_data_folder_and_closes_its_engine(
    settings: Settings,
) -> None:
    engine = FakeEngine()
    async with running_service(settings, engine=engine) as service:
        assert service.kv_available
        assert (await service.add_fact("ann", "I ski.")).text == "I ski."
        assert engine.running
    assert not engine.running


async def test_facts_are_there_after_a_restart(settings: Settings) -> None:
    async with running_service(settings, engine=FakeEngine()) as service:
        await service.add_fact("ann", "I ski.")
    async with running_service(settings, engine=FakeEngine()) as service:
        assert [fact.text for fact in await service.facts("ann")] == ["I ski."]


@pytest.mark.parametrize(
    ("extractor", "model", "expected"),
    [
        ("auto", "", RuleExtractor),
        ("auto", "owner/name", LlmExtractor),
        ("rules", "owner/name", RuleExtractor),
        ("model", "", LlmExtractor),
    ],
)
def test_the_bundled_model_is_not_asked_to_extract_unless_told_to(
    extractor: str, model: str, expected: type
) -> None:
    settings = load_settings(extractor=extractor, model=model)
    memory = FakeMemory(FakeEngine())
    assert isinstance(choose_extractor(settings, memory), expected)


async def test_a_refused_model_leaves_text_mode_and_the_reason(settings: Settings) -> None:
    told: list[str] = []
    engine = FakeEngine(supported=False)
    async with running_service(settings, engine=engine, progress=told.append) as service:
        assert not service.kv_available
        assert "told to refuse" in service.kv_refusal
    assert any("told to refuse" in line for line in told)


async def test_the_engine_is_stopped_when_the_memory_cannot_be_built(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ModelNotFoundError("no embeddings")

    monkeypatch.setattr("app.composition.build_memory", broken)
    engine = FakeEngine()
    with pytest.raises(ModelNotFoundError, match="no embeddings"):
        await open_service(settings, engine=engine)
    assert not engine.running


async def test_a_missing_model_is_found_before_the_engine_is_built(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.composition.build_engine", None)
    missing = settings.model_copy(update={"model": str(tmp_path / "nowhere")})
    with pytest.raises(ModelNotFoundError):
        await open_service(missing)


async def test_what_vllm_raises_at_start_becomes_an_engine_error(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: FakeEngine) -> None:
        raise RuntimeError("Engine core initialization failed")

    monkeypatch.setattr(FakeEngine, "start", broken)
    with pytest.raises(EngineError, match="Engine core initialization failed"):
        await open_service(settings, engine=FakeEngine())


async def test_a_database_of_another_revision_is_refused(
    settings: Settings, tmp_path: Path
) -> None:
    other = {"database_url": f"sqlite+aiosqlite:///{tmp_path / 'empty.db'}"}
    with pytest.raises(DatabaseRevisionError, match="inferscale migrate"):
        await open_database(settings.model_copy(update=other))


async def test_a_data_folder_below_a_file_is_refused(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    wrong = settings.model_copy(update={"data_dir": tmp_path / "file" / "data"})
    with pytest.raises(DatabaseReadOnlyError, match="INFERSCALE_DATA_DIR"):
        await open_service(wrong, engine=FakeEngine())
