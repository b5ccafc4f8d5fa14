"""Bytes of weights and KV, and operations, computed from a model's shape."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.models.dummy_model import SHAPES, kv_shape
from app.models.engine_choice import DTYPE_BYTES
from app.models.model_choice import names_hub_model, read_config
from app.settings_checks import StoreDtype
from memory_engine.errors import ModelNotFoundError, SettingsError

_FP8_SCALE_BYTES = 4  # one float32 a token, layer, head, and K or V
_MULTIPLY_ADD = 2  # operations


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Shape of a decoder of the Llama kind.

    parameters: of all weights. number_bytes: of a weight or a number of KV.
    """

    name: str
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    parameters: int
    number_bytes: int

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights."""
        return self.parameters * self.number_bytes

    def token_bytes(self, store: StoreDtype = "auto") -> int:
        """Bytes of one token's keys and values over all layers, as the arena stores them."""
        vectors = self.layers * 2 * self.kv_heads
        if store == "fp8":
            return vectors * (self.head_dim + _FP8_SCALE_BYTES)
        return vectors * self.head_dim * self.number_bytes

    def prefill_operations(self, tokens: float) -> float:
        """Floating-point operations to prefill a prompt: weights, and causal attention."""
        attention = self.layers * self.heads * self.head_dim * tokens
        return _MULTIPLY_ADD * tokens * (self.parameters + attention)


def shape_of(model: str) -> ModelShape:
    """Find the shape of a dummy model, or of the model in a folder with a config.json. Offline.

    Raises ModelNotFoundError for anything else, and SettingsError for a model whose KV is
    not keys and values of heads.
    """
    if model in SHAPES:
        return shape_from(model, SHAPES[model])
    if names_hub_model(model):
        raise ModelNotFoundError(
            f"--model {model} names a hub model, and a plan contacts nobody: put its config.json "
            f"into a folder and name that, or use {' or '.join(SHAPES)}."
        )
    folder = Path(model).expanduser()
    if not folder.is_dir():
        raise ModelNotFoundError(
            f"--model {model}: there is no such folder. Give a folder with a config.json, or "
            f"{' or '.join(SHAPES)}."
        )
    return shape_from(folder.resolve().name, read_config(folder))


def shape_from(name: str, config: dict[str, Any]) -> ModelShape:
    """Read the shape that a config.json describes; of a mixture of experts with all experts.

    Raises SettingsError for latent attention, or if a field is missing.
    """
    config = config.get("text_config") or config
    if "kv_lora_rank" in config:
        raise SettingsError(f"--model {name} keeps latent attention (MLA), which is not injected.")
    try:
        layers, kv_heads, head_dim = kv_shape(config)
        parameters = _parameters(config, layers, kv_heads, head_dim)
    except KeyError as error:
        raise SettingsError(f"--model {name}: its config.json has no {error.args[0]}.") from None
    dtype = str(config.get("torch_dtype") or config.get("dtype") or "bfloat16")
    heads = config["num_attention_heads"]
    return ModelShape(
        name, layers, heads, kv_heads, head_dim, parameters, DTYPE_BYTES.get(dtype, 2)
    )


def _parameters(config: dict[str, Any], layers: int, kv_heads: int, head_dim: int) -> int:
    """Embeddings, attention and gated feed-forward weights; norms and biases are left out."""
    hidden = config["hidden_size"]
    embeddings = config["vocab_size"] * hidden * (1 if config.get("tie_word_embeddings") else 2)
    attention = 2 * hidden * head_dim * (config["num_attention_heads"] + kv_heads)
    experts = config.get("num_local_experts") or config.get("num_experts") or 1
    width = config.get("moe_intermediate_size") or config["intermediate_size"]
    return int(embeddings + layers * (attention + 3 * hidden * width * experts))
