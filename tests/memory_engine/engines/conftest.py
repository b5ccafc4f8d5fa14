"""Small models on disk, and engines whose vLLM runs in processes of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import torch

from memory_engine.engines.remote import RemoteEngine
from tests.memory_engine.engines.engine_servers import ServedEngine, Serving
from tests.memory_engine.engines.fake_vllm_server import KEY


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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served_engines(
    serving: Serving,
) -> AsyncIterator[tuple[ServedEngine, ServedEngine]]:
    """Two engines of one model; the second one may be killed, by one test."""
    for engine in serving.engines:
        await engine.answers()
    yield serving.engines


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
