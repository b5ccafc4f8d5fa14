"""Small models on disk, and engines whose vLLM runs in processes of its own."""

import asyncio
import os
import sys
from asyncio.subprocess import Process, create_subprocess_exec
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
import torch

from memory_engine.engines.remote import RemoteEngine
from scripts.readme import ROOT
from tests.memory_engine.engines.fake_serve import KEY
from tests.memory_engine.engines.routing import free_ports, until_healthy
from tests.memory_engine.engines.talking import write_talking_llama


@pytest.fixture(scope="session")
def small_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights on disk, so that every engine loads the same model."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(5)
    config = LlamaConfig(
        hidden_size=256,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=4,
        head_dim=64,
        vocab_size=40960,
        max_position_embeddings=2048,
        initializer_range=0.2,
    )
    folder = tmp_path_factory.mktemp("llama")
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def talking_llama(tmp_path_factory: pytest.TempPathFactory, bundled_llm: Path) -> Path:
    """Random weights with the bundled model's tokenizer; 16 KiB of KV a token in float32."""
    folder = tmp_path_factory.mktemp("talking-llama")
    write_talking_llama(folder, bundled_llm)
    return folder


@dataclass(frozen=True, slots=True)
class ServedEngine:
    """`inferscale engine` in a process of its own, and how to reach it."""

    url: str
    process: Process


@asynccontextmanager
async def engine_process(model: Path, folder: Path) -> AsyncIterator[ServedEngine]:
    """An engine that begins to start: 1,024 tokens of arena and 1,344 of paged cache."""
    (port,) = free_ports(1)
    environment = {name: v for name, v in os.environ.items() if not name.startswith("INFERSCALE_")}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "INFERSCALE_MODEL": str(model),
        "INFERSCALE_SIGNING_KEY": KEY,
        "INFERSCALE_DATA_DIR": str(folder),
        "INFERSCALE_ARENA_MIB": "16",
        "INFERSCALE_KV_CACHE_MIB": "21",
        "INFERSCALE_MAX_MODEL_LEN": "1024",
        "INFERSCALE_DTYPE": "float32",
    }
    command = [sys.executable, "-m", "app", "engine", "--port", str(port)]
    command += ["--", "--max-num-batched-tokens", "256", "--block-size", "32"]
    process = await create_subprocess_exec(*command, env=environment)
    try:
        yield ServedEngine(f"http://127.0.0.1:{port}", process)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served_engines(
    talking_llama: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[ServedEngine, ServedEngine]]:
    """Two engines of one model; the second one may be killed, by one test."""
    folder = tmp_path_factory.mktemp("engines")
    async with AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(engine_process(talking_llama, folder)) for _ in range(2)
        ]
        for engine in (first, second):
            ends = asyncio.create_task(engine.process.wait())
            answers = asyncio.create_task(until_healthy(engine.url, patience=3000))
            await asyncio.wait((ends, answers), return_when=asyncio.FIRST_COMPLETED)
            ends.cancel()
            assert engine.process.returncode is None, "an engine did not start"
            await answers
        yield first, second


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def remote_engine(
    served_engines: tuple[ServedEngine, ServedEngine],
) -> AsyncIterator[RemoteEngine]:
    """The line to the first of the two, which stays."""
    engine = RemoteEngine(served_engines[0].url, KEY)
    await engine.start()
    assert engine.conformance.supported, engine.conformance.reason
    yield engine
    await engine.aclose()
