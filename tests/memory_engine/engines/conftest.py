"""A small model on disk, for engines whose vLLM runs in processes of its own."""

from pathlib import Path

import pytest
import torch


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
