"""Bytes and operations of a model, read off its config.json."""

import json
from pathlib import Path

import pytest

from app.models.dummy_model import LLAMA_8B
from benchmarks.capacity.model_shape import shape_from, shape_of
from memory_engine.connector.gpu.live_model import kv_bytes_per_token
from memory_engine.errors import ModelNotFoundError, SettingsError


def test_llama_8b_has_eight_billion_parameters_and_128_kib_a_token() -> None:
    shape = shape_of("llama-8b")
    assert shape.parameters == pytest.approx(8.03e9, rel=1e-3)
    assert shape.token_bytes() == 131_072
    assert shape.weight_bytes == 2 * shape.parameters


def test_llama_70b_has_seventy_billion_parameters() -> None:
    assert shape_of("llama-70b").parameters == pytest.approx(70.55e9, rel=1e-3)


@pytest.mark.parametrize("store", ["auto", "fp8"])
def test_a_token_takes_what_the_connector_says(store: str) -> None:
    import torch
    from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec

    spec = FullAttentionSpec(block_size=16, num_kv_heads=8, head_size=128, dtype=torch.bfloat16)
    layers = [f"layer.{number}" for number in range(32)]
    config = KVCacheConfig(1, [], [KVCacheGroupSpec(layers, spec)])
    shape = shape_of("llama-8b")
    wanted = kv_bytes_per_token(config, fp8=store == "fp8")
    assert shape.token_bytes("fp8" if store == "fp8" else "auto") == wanted


def test_a_prefill_of_one_token_is_two_operations_a_parameter_and_attention() -> None:
    shape = shape_of("llama-8b")
    assert shape.prefill_operations(1) == 2 * (shape.parameters + 32 * 4096)


def test_a_folder_with_a_config_is_enough(tmp_path: Path) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA_8B))
    shape = shape_of(str(folder))
    assert shape.name == "my-model"
    assert shape.token_bytes() == shape_of("llama-8b").token_bytes()


def test_the_text_model_of_a_multimodal_one_counts() -> None:
    assert shape_from("m", {"text_config": LLAMA_8B}) == shape_from("m", LLAMA_8B)


def test_tied_embeddings_and_experts_count_as_they_are() -> None:
    plain = shape_from("m", LLAMA_8B).parameters
    tied = shape_from("m", LLAMA_8B | {"tie_word_embeddings": True}).parameters
    assert plain - tied == 128_256 * 4096
    experts = shape_from("m", LLAMA_8B | {"num_local_experts": 2}).parameters
    assert experts - plain == 32 * 3 * 4096 * 14_336


def test_a_hub_id_is_refused_without_asking_the_hub() -> None:
    with pytest.raises(ModelNotFoundError, match=r"contacts nobody: put its config\.json"):
        shape_of("owner/name")


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="no such folder"):
        shape_of(str(tmp_path / "nothing"))


def test_latent_attention_and_an_incomplete_config_are_refused() -> None:
    with pytest.raises(SettingsError, match="MLA"):
        shape_from("m", LLAMA_8B | {"kv_lora_rank": 512})
    with pytest.raises(SettingsError, match="has no vocab_size"):
        shape_from("m", {name: v for name, v in LLAMA_8B.items() if name != "vocab_size"})
