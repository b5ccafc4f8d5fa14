"""The session of an evaluation: room in the arena, and the choice of questions."""

from pathlib import Path

import pytest

from app.composition import silent
from app.models.dummy_model import LLAMA_8B
from app.settings import Settings
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.eval_session import (
    QuestionSelection,
    prepare_conversations,
    sized_arguments,
)
from memory_engine.errors import SettingsError
from tests.benchmarks.quality.datasets.locomo_builder import RECORD, written


def test_the_arena_holds_all_facts_of_a_conversation() -> None:
    settings = Settings(dtype="bfloat16", arena_mib=16)
    arguments = sized_arguments(settings, LLAMA_8B, tokens=12_000)
    assert arguments["arena_bytes"] > 12_000 * 128 * 1024
    assert arguments["snapshot_folder"] is None
    roomy = sized_arguments(Settings(dtype="bfloat16", arena_mib=4096), LLAMA_8B, tokens=100)
    assert roomy["arena_bytes"] == 4096 << 20


async def test_a_file_without_facts_has_nothing_to_ask(tmp_path: Path) -> None:
    path = written(tmp_path, {**RECORD, "observation": {}})
    with pytest.raises(SettingsError, match="no question whose evidence is among its facts"):
        await prepare_conversations(
            Settings(), QuestionSelection(path, None, 5, 0), [Setup(k=3)], silent
        )


def test_fewer_questions_are_asked_where_there_is_no_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [{**RECORD, "sample_id": f"conv-{number}"} for number in range(9)]
    selection = QuestionSelection(written(tmp_path, *many), None, None, 0)

    def count() -> int:
        return sum(len(questions) for _, questions in selection.questions(3))

    monkeypatch.setattr("app.hardware._first_gpu", lambda: ("", 0))
    assert count() == 12
    monkeypatch.setattr("app.hardware._first_gpu", lambda: ("NVIDIA Test", 80 << 30))
    assert count() == 27
