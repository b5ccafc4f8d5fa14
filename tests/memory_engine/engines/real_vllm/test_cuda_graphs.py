"""Replays of CUDA graphs skip Python: what is injected has to be there all the same.

Without a GPU the other tests of this folder are their twins: there vLLM runs eagerly.
"""

import asyncio
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from memory_engine.engines.embedded import EmbeddedEngine
from memory_engine.types import Mode, Prompt
from tests.memory_engine.engines.test_embedded import cut, encoded, reply, words


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["FULL", "PIECEWISE", "FULL_AND_PIECEWISE", "NONE"])
@pytest.mark.parametrize("asynchronous", [True, False])
async def test_graphs_of_any_kind_reply_to_injected_prompts_as_to_text(
    small_llama: Path, mode: str, asynchronous: bool
) -> None:
    engine = EmbeddedEngine(
        small_llama,
        arena_bytes=8 << 20,
        host_bytes=8 << 20,
        kv_cache_bytes=32 << 20,
        max_model_len=1024,
        dtype="float32",
        max_num_batched_tokens=256,
        skip_tokenizer_init=True,
        compilation_config={"cudagraph_mode": mode},
        async_scheduling=asynchronous,
    )
    await engine.start()
    try:
        assert engine.conformance.supported, engine.conformance.reason
        prompts = []
        # Suffixes of one token, of a graph's size or not, and of more than one step.
        for suffix in (1, 7, 16, 100, 300):
            ids = words(90 + suffix, seed=90 + suffix)
            prompts.append(await encoded(engine, "anna", ids, cut(ids, [50, 40])))
        alone = [(await reply(engine, p, Mode.TEXT, tokens=12))[0] for p in prompts]
        for prompt, expected in zip(prompts, alone, strict=True):
            got, usage = await reply(engine, prompt, Mode.KV, tokens=12)
            assert usage.injected_tokens == 90
            assert got == expected
        together = await asyncio.gather(*(reply(engine, p, Mode.KV, tokens=12) for p in prompts))
        assert [ids for ids, _ in together] == alone
        assert (await engine.arena()).pinned_segments == 0
    finally:
        await engine.aclose()


def _model(folder: Path, head_dim: int) -> Path:
    torch.manual_seed(head_dim)
    config = LlamaConfig(
        hidden_size=4 * head_dim,
        intermediate_size=4 * head_dim,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=head_dim,
        vocab_size=40960,
        max_position_embeddings=2048,
        initializer_range=0.2,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


@pytest.mark.gpu
@pytest.mark.parametrize("head_dim", [64, 128, 256])
async def test_many_replies_at_once_are_what_their_prefills_say(
    tmp_path: Path, head_dim: int
) -> None:
    """In bf16, where FlashAttention is used: with graphs for the wrong heads it decoded nonsense.

    The gate does the same with few requests, at every start, on a CPU too.
    """
    engine = EmbeddedEngine(
        _model(tmp_path, head_dim),
        arena_bytes=64 << 20,
        kv_cache_bytes=1 << 30,
        max_model_len=1024,
        dtype="bfloat16",
        skip_tokenizer_init=True,
    )
    await engine.start()
    try:
        prompts = []
        for number in range(100):
            ids = words(130 + number, seed=number)
            prompts.append(await encoded(engine, "anna", ids, cut(ids, [50, 40])))
        for mode in Mode:
            said = await asyncio.gather(*(reply(engine, p, mode, tokens=12) for p in prompts))
            agree = 0
            for prompt, (ids, _) in zip(prompts, said, strict=True):
                longer = Prompt("anna", [*prompt.token_ids, *ids[:-1]], prompt.spans)
                agree += (await reply(engine, longer, mode, tokens=1))[0] == ids[-1:]
            # Rounding decides between equally likely tokens here and there.
            assert agree >= 90
    finally:
        await engine.aclose()
