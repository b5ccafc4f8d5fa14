"""Kinds of requests, on real vLLM with a tiny model: injected rightly, or run as text."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import torch
from safetensors.torch import save_file

from memory_engine.types import Prompt
from tests.memory_engine.engines.real_vllm.tiny_vllm import (
    BLOCK,
    TinyEngine,
    outcome,
    tiny_engine,
    tokens,
)
from tests.memory_engine.engines.test_embedded import words as any_words

pytestmark = pytest.mark.asyncio(loop_scope="module")


def words(count: int, seed: int) -> list[int]:
    return [3 + word % 500 for word in any_words(count, seed)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TinyEngine]:
    folder = tmp_path_factory.mktemp("tiny")
    async with tiny_engine(folder, enable_prompt_embeds=True, enable_lora=True) as started:
        yield started


@pytest.fixture(autouse=True)
def nothing_leaks(engine: TinyEngine) -> Any:
    yield
    engine.require_nothing_leaked()


@pytest.fixture
async def prompt(engine: TinyEngine) -> AsyncIterator[Prompt]:
    yield await engine.remember("anna", words(130, 1), [50, 41, 30])
    await engine.drop("anna")


@pytest.mark.parametrize("local", [0, 1, 2, 3, 4])
async def test_a_local_hit_of_any_length_is_completed_from_the_arena(
    engine: TinyEngine, local: int
) -> None:
    """Up to a hit that leaves one token: 129 tokens, 4 blocks of them cached."""
    ids = words(129, 2)
    prompt = await engine.remember("anna", ids, [50, 41, 37])
    expected = engine.one(prompt, text=True)
    salt = f"hits of {local} blocks"
    if local:
        front = Prompt("anna", ids[: local * BLOCK + 1])
        engine.one(front, text=True, salt=salt)
    got = engine.one(prompt, salt=salt)
    assert tokens(got) == tokens(expected)
    assert outcome(got)["cached"] == local * BLOCK
    assert outcome(got)["injected"] == 128 - local * BLOCK
    await engine.drop("anna")


async def test_prompt_logprobs_are_those_of_text_and_nothing_is_injected(
    engine: TinyEngine, prompt: Prompt
) -> None:
    expected = engine.one(prompt, text=True, prompt_logprobs=0)
    got = engine.one(prompt, prompt_logprobs=0)
    assert outcome(got)["injected"] == outcome(got)["cached"] == 0
    assert tokens(got) == tokens(expected)
    assert len(got.prompt_logprobs) == len(prompt.token_ids)
    for ours, theirs, token in zip(
        got.prompt_logprobs[1:], expected.prompt_logprobs[1:], prompt.token_ids[1:], strict=True
    ):
        assert ours[token].logprob == pytest.approx(theirs[token].logprob, abs=1e-4)


async def test_every_sample_of_a_request_is_injected(engine: TinyEngine, prompt: Prompt) -> None:
    expected = engine.one(prompt, text=True)
    got = engine.one(prompt, n=3, temperature=1.0, top_k=1)
    assert [list(sample.token_ids) for sample in got.outputs] == [tokens(expected)] * 3
    # The samples are requests of one salt: those behind the first find its four blocks.
    assert (outcome(got)["cached"], outcome(got)["injected"]) in ((0, 121), (128, 0))


async def test_a_prompt_of_embeddings_is_never_injected(engine: TinyEngine, prompt: Prompt) -> None:
    embeds = torch.randn(130, 128, generator=torch.Generator().manual_seed(3))
    inputs = {"prompt_embeds": embeds}
    expected = engine.one(prompt, text=True, inputs=inputs)
    got = engine.one(prompt, inputs=inputs)
    assert tokens(got) == tokens(expected)
    assert got.kv_transfer_params is None


async def test_a_request_with_a_lora_adapter_is_never_injected(
    engine: TinyEngine, prompt: Prompt, tmp_path: Path
) -> None:
    from vllm.lora.request import LoRARequest

    _save_adapter(tmp_path)
    lora = LoRARequest("tuned", 1, str(tmp_path))
    expected = engine.one(prompt, text=True, lora=lora)
    got = engine.one(prompt, lora=lora)
    assert tokens(got) == tokens(expected)
    assert tokens(got) != tokens(engine.one(prompt))
    assert got.kv_transfer_params is None


def _save_adapter(folder: Path) -> None:
    rank, hidden, heads = 8, 128, 128
    config = {"peft_type": "LORA", "r": rank, "lora_alpha": 64, "target_modules": ["q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    generator = torch.Generator().manual_seed(4)
    weights = {}
    for layer in range(4):
        name = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        weights[f"{name}.lora_A.weight"] = torch.randn(rank, hidden, generator=generator)
        weights[f"{name}.lora_B.weight"] = torch.randn(heads, rank, generator=generator)
    save_file(weights, folder / "adapter_model.safetensors")
