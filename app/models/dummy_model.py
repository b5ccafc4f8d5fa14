"""Dummy models: shapes with random weights, enough to measure time."""

import json
from pathlib import Path
from typing import Any

from memory_engine.errors import SettingsError

LLAMA_8B: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": False,
    "bos_token_id": 128000,
    "eos_token_id": 128001,
    "torch_dtype": "bfloat16",
}

LLAMA_70B = LLAMA_8B | {
    "num_hidden_layers": 80,
    "hidden_size": 8192,
    "num_attention_heads": 64,
    "intermediate_size": 28672,
}

SHAPES = {"llama-8b": LLAMA_8B, "llama-70b": LLAMA_70B}


def write_shape(name: str, folder: Path) -> dict[str, Any]:
    """Write the shape's config.json into `folder` and return it. SettingsError if unknown."""
    if name not in SHAPES:
        raise SettingsError(f"--dummy-model {name} is unknown: allowed is {', '.join(SHAPES)}.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(SHAPES[name], indent=2))
    return SHAPES[name]


def kv_shape(config: dict[str, Any]) -> tuple[int, int, int]:
    """Read layers, KV heads and head dimension of a model's KV."""
    heads = config["num_attention_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    return config["num_hidden_layers"], config.get("num_key_value_heads") or heads, head_dim


def kv_bytes_per_token(config: dict[str, Any], bytes_a_number: int) -> int:
    """Compute the bytes of keys and values that one token takes over all layers."""
    layers, kv_heads, head_dim = kv_shape(config)
    return layers * 2 * kv_heads * head_dim * bytes_a_number
