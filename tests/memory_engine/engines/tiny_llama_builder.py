"""A tiny Llama with random weights and the bundled model's tokenizer: its words mean nothing."""

import shutil
from pathlib import Path

import torch


def write_talking_llama(folder: Path, tokenizer: Path) -> None:
    """Write it to `folder`: 16 KiB of KV a token in float32, and always the same weights.

    tokenizer: the folder of the bundled model.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(5)
    config = LlamaConfig(
        hidden_size=128,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=16,
        num_key_value_heads=16,
        head_dim=64,
        vocab_size=49152,
        max_position_embeddings=2048,
        initializer_range=0.2,
        tie_word_embeddings=True,
        eos_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    for file in tokenizer.glob("token*.json"):
        shutil.copy(file, folder)
