"""The stages of a first token: measured on a tiny model, in one process as on a GPU."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from benchmarks.speed.prompt_material import PromptMaterial, random_tokens
from memory_engine.errors import EngineError
from memory_engine.types import Mode
from scripts.first_token import measure, timed, timed_connector
from scripts.stages import LATE, STAGES, as_table
from tests.memory_engine.engines.real_vllm.tiny_vllm import TinyEngine, tiny_engine

MATERIAL = PromptMaterial.cut_from([3 + i % 500 for i in random_tokens(5000, 92)], 4, 10)


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=[False, True], ids=["early", "late"]
)
async def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[TinyEngine]:
    extra = {"arena_bytes": 1 << 20, LATE: request.param}
    folder = tmp_path_factory.mktemp("tiny")
    async with tiny_engine(folder, kv_transfer_config=timed_connector(extra)) as started:
        yield started


@pytest.mark.asyncio(loop_scope="module")
async def test_every_stage_is_timed_and_they_are_all_of_it(engine: TinyEngine) -> None:
    arms = await measure(engine, MATERIAL, [4], n=1)
    assert list(arms) == [
        "text, no facts",
        "text, 4 facts",
        "text, 4 facts, same prompt again",
        "KV, 4 facts",
    ]
    for spans in arms.values():
        assert list(spans) == [*STAGES, "all"]
        assert all(ms >= 0 for ms in spans.values())
        assert sum(spans[stage] for stage in STAGES) == pytest.approx(spans["all"], abs=0.01)


@pytest.mark.asyncio(loop_scope="module")
async def test_late_is_when_vllm_asks_for_it(
    engine: TinyEngine, request: pytest.FixtureRequest
) -> None:
    late = request.node.callspec.id == "late"
    assert (engine.scheduler.connector._worker_here() is None) == late


@pytest.mark.asyncio(loop_scope="module")
async def test_a_kv_request_that_is_not_injected_ends_the_measurement(engine: TinyEngine) -> None:
    prompt = MATERIAL.owned_by("nobody").prompt([0, 1])
    with pytest.raises(EngineError, match="was not injected"):
        await timed(engine, prompt, Mode.KV, "")


def test_the_table_has_a_line_for_every_stage() -> None:
    found: dict[str, dict[str, float]] = {"a": dict.fromkeys(STAGES, 1.0) | {"all": 10.0}}
    found["b"] = {"all": 3.0}
    lines = as_table(found).splitlines()
    assert lines[0] == "| ms | a | b |"
    assert len(lines) == 2 + len(STAGES) + 1
    assert lines[-1] == "| **all** | 10.00 | 3.00 |"
    assert lines[2].endswith("| 1.00 |  |")
