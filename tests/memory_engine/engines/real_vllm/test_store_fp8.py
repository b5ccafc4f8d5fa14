"""KV stored in FP8: the gate passes, a token takes about a quarter of fp32, replies stay close."""

from pathlib import Path

import pytest

from memory_engine.engines.embedded import EmbeddedEngine
from memory_engine.families.in_process import InProcessEngine
from memory_engine.types import Mode, Prompt
from tests.memory_engine.engines.real_vllm.test_tensor_parallel import files_in, put_back
from tests.memory_engine.engines.test_embedded import cut, encoded, reply, words

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def from_snapshot(engine: EmbeddedEngine, prompt: Prompt, folder: Path) -> list[int]:
    """The first token of the reply after all was forgotten but for a copy of the snapshot."""
    await engine.snapshot("anna")
    files = files_in(folder)
    assert await engine.drop("anna") == len(prompt.spans)
    put_back(files)
    assert set(await engine.restore("anna")) == {span.segment_id for span in prompt.spans}
    got, usage = await reply(engine, prompt, Mode.KV, tokens=1)
    assert usage.injected_tokens == sum(span.length for span in prompt.spans)
    return got


async def test_a_store_in_fp8_conforms_and_takes_a_quarter_of_the_memory(
    real_engine: EmbeddedEngine, bundled_llm: Path, tmp_path: Path
) -> None:
    engine = InProcessEngine(
        bundled_llm,
        load_format="auto",
        arena_bytes=40 << 20,
        kv_cache_bytes=60 << 20,
        max_model_len=1024,
        dtype="float32",
        store_dtype="fp8",
        snapshot_folder=tmp_path,
        snapshot_bytes=64 << 20,
        block_size=32,
    )
    await engine.start()
    try:
        assert engine.conformance.supported, engine.conformance.reason
        # It is rounded, and less than a mistake would change.
        assert 1e-3 < engine.conformance.checks["identity"] < 0.05
        # One byte a number and one scale for 64 of them, against four bytes.
        assert engine.info.arena_tokens / real_engine.info.arena_tokens == pytest.approx(
            4 / (1 + 4 / 64), rel=0.01
        )
        ids = words(90, seed=80)
        prompt = await encoded(engine, "anna", ids, cut(ids, [20, 30, 25]))
        expected, _ = await reply(engine, prompt, Mode.TEXT, tokens=1)
        got, usage = await reply(engine, prompt, Mode.KV, tokens=1)
        assert usage.injected_tokens == 75
        assert got == expected
        assert await from_snapshot(engine, prompt, tmp_path) == got
    finally:
        await engine.aclose()
