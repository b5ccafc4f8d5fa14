"""A model family: what it exercises, and the config.json of a tiny model of it."""

from dataclasses import dataclass, field
from typing import Any

# Small enough to start in two seconds, with head sizes that vLLM's CPU attention has. The
# windows are shorter than the gate's prompts, so that they hide something.
LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, VOCAB, WINDOW = 4, 128, 4, 2, 32, 512, 32

SHAPE: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "intermediate_size": 192,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "vocab_size": VOCAB,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


@dataclass(frozen=True, slots=True)
class Family:
    """A tiny model. `config` is its config.json; `max_model_len` is in tokens."""

    name: str
    exercises: str
    config: dict[str, Any] = field(repr=False)
    dtype: str = "float32"
    max_model_len: int = 256


def shaped(architecture: str, model_type: str, **changes: Any) -> dict[str, Any]:
    """A config.json of the common shape with changes."""
    return {"architectures": [architecture], "model_type": model_type} | SHAPE | changes


def alternating(one: str, other: str, every: int = 2) -> list[str]:
    """Layer types: `other` at every so manieth layer, `one` at the rest."""
    return [other if (layer + 1) % every == 0 else one for layer in range(LAYERS)]
