"""RoPE read from models of Transformers: pairing, table, layer types, and what is refused."""

from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModel

from memory_engine.connector.gpu.transformers_rope import runs_through_transformers, shared_ropes
from memory_engine.connector.gpu.unsupported import UnsupportedError

CPU = torch.device("cpu")
SHAPE = {
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 32,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def model_of(model_type: str, **changes: Any) -> tuple[torch.nn.Module, dict[str, Any]]:
    """A model and its attention modules by name."""
    model: Any = AutoModel.from_config(AutoConfig.for_model(model_type, **(SHAPE | changes)))
    return model, {str(number): layer.self_attn for number, layer in enumerate(model.layers)}


@pytest.mark.parametrize(
    ("model_type", "rotary_dim", "neox"),
    [("llama", 16, True), ("smollm3", 16, True), ("glm", 8, False)],
)
def test_table_and_pairing_are_those_of_the_model(
    model_type: str, rotary_dim: int, neox: bool
) -> None:
    model, attentions = model_of(model_type)
    assert runs_through_transformers(model)
    ropes = shared_ropes(model, attentions, CPU)
    assert ropes["0"] is ropes["1"]
    assert ropes["0"].table.shape == (64, rotary_dim)
    assert ropes["0"].neox is neox


def test_layers_of_another_type_have_another_rope() -> None:
    theta = {"rope_type": "default", "rope_theta": 10000.0}
    model, attentions = model_of(
        "olmo3",
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention"],
        rope_parameters={
            "sliding_attention": theta,
            "full_attention": theta | {"rope_type": "linear", "factor": 4.0},
        },
    )
    ropes = shared_ropes(model, attentions, CPU)
    assert torch.allclose(ropes["1"].table[4], ropes["0"].table[1], atol=1e-6)


def test_modules_of_another_model_are_left_alone() -> None:
    model, _ = model_of("llama")
    _, others = model_of("llama")
    assert shared_ropes(model, others, CPU) == {}


def test_a_rope_that_changes_with_the_length_is_refused() -> None:
    dynamic = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}
    model, attentions = model_of("llama", rope_parameters=dynamic)
    with pytest.raises(UnsupportedError, match="changes with the prompt's length"):
        shared_ropes(model, attentions, CPU)


def test_a_rotation_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def added(q: Any, k: Any, cos: Any, sin: Any) -> Any:
        return q + cos, k + sin

    monkeypatch.setattr("transformers.models.llama.modeling_llama.apply_rotary_pos_emb", added)
    model, attentions = model_of("llama")
    with pytest.raises(UnsupportedError, match="in a way of its own"):
        shared_ropes(model, attentions, CPU)
