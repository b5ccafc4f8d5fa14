"""Two ranks, each with its own heads, follow one plan: on the CPU (gloo)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from memory_engine.engines.embedded import EmbeddedEngine
from memory_engine.families.in_process import InProcessEngine
from memory_engine.types import Mode, Prompt
from tests.memory_engine.engines.test_embedded import cut, encoded, reply, words

LENGTHS = [20, 41, 9, 30]


@asynccontextmanager
async def running(model: Path, ranks: int) -> AsyncIterator[EmbeddedEngine]:
    """Two ranks in processes of their own; one in this process, which starts sooner."""
    options: dict[str, Any] = {
        "arena_bytes": 2 << 20,
        "host_bytes": 4 << 20,
        "kv_cache_bytes": 32 << 20,
        "max_model_len": 1024,
        "dtype": "float32",
        "snapshot_folder": model / "kv",
        "snapshot_bytes": 64 << 20,
    }
    engine = (
        InProcessEngine(model, load_format="auto", **options)
        if ranks == 1
        else EmbeddedEngine(model, tensor_parallel_size=ranks, skip_tokenizer_init=True, **options)
    )
    await engine.start()
    try:
        yield engine
    finally:
        await engine.aclose()


IDS = words(130, seed=70)


async def injected(engine: EmbeddedEngine, prompt: Prompt) -> list[int]:
    got, usage = await reply(engine, prompt, Mode.KV, tokens=12)
    assert usage.injected_tokens == sum(LENGTHS)
    return got


async def replies(engine: EmbeddedEngine, prompt: Prompt) -> dict[str, list[int]]:
    """The same prompt as text, as KV, and as KV that comes back from host memory."""
    await encoded(engine, "anna", prompt.token_ids, prompt.spans)
    found = {"text": (await reply(engine, prompt, Mode.TEXT, tokens=12))[0]}
    found["kv"] = await injected(engine, prompt)
    assert await engine.on_host("anna") == frozenset()
    assert await engine.demote("anna") == len(LENGTHS)
    assert await engine.on_host("anna") == set(await engine.owned("anna"))
    found["host"] = await injected(engine, prompt)
    assert (await engine.arena()).promotions == len(LENGTHS)
    return found


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.iterdir()}


def put_back(files: dict[Path, bytes]) -> None:
    for path, content in files.items():
        path.write_bytes(content)


async def from_snapshot(engine: EmbeddedEngine, prompt: Prompt, folder: Path) -> list[int]:
    """The reply after everything was forgotten but for a copy of the snapshot's files."""
    await engine.snapshot("anna")
    files = files_in(folder)
    assert await engine.drop("anna") == len(LENGTHS)
    assert files_in(folder) == {}
    assert await engine.restore("anna") == ()
    put_back(files)
    assert set(await engine.restore("anna")) == {span.segment_id for span in prompt.spans}
    assert await engine.restore("ben") == ()
    got = await injected(engine, prompt)
    await engine.drop("anna")
    return got


async def test_two_ranks_reply_as_one_does_and_so_they_do_from_their_snapshot(
    small_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if torch.cuda.is_available() and torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs, or none")
    # vLLM binds each rank on a CPU to a NUMA node of its own, if not told otherwise.
    monkeypatch.setenv("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    prompt, found = Prompt("anna", IDS, cut(IDS, LENGTHS)), {}
    for ranks in (1, 2):
        async with running(small_llama, ranks) as engine:
            assert engine.conformance.supported, engine.conformance.reason
            found[ranks] = await replies(engine, prompt)
            assert await from_snapshot(engine, prompt, small_llama / "kv") == found[ranks]["text"]
    assert found[1]["text"] == found[1]["kv"] == found[1]["host"]
    assert found[2] == found[1]
