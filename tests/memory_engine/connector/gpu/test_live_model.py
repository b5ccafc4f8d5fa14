"""Reading a live model, and refusing set-ups that cannot be served."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from vllm.model_executor.layers.rotary_embedding import DualChunkRotaryEmbedding

from memory_engine.connector.gpu.live_model import (
    _rope,
    _rotates,
    find_ropes,
    require_supported,
)
from memory_engine.connector.gpu.unsupported import UnsupportedError

CPU = torch.device("cpu")


def spec(kind: str = "FullAttentionSpec", **values: Any) -> Any:
    shape = {"dtype": torch.float32, "head_size": 32} | values
    return type(kind, (), shape)()


def check(spec: Any, max_model_len: int = 256, groups: int = 1) -> None:
    parallel = SimpleNamespace(pipeline_parallel_size=1, decode_context_parallel_size=1)
    config = SimpleNamespace(
        parallel_config=parallel, model_config=SimpleNamespace(max_model_len=max_model_len)
    )
    group = SimpleNamespace(kv_cache_spec=spec)
    require_supported(config, SimpleNamespace(kv_cache_groups=[group] * groups))


def test_full_attention_is_supported() -> None:
    check(spec())


def test_a_window_that_no_prompt_leaves_is_supported() -> None:
    check(spec("SlidingWindowSpec", sliding_window=256))


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (spec("SlidingWindowSpec", sliding_window=255), "window of 255 tokens is shorter"),
        (spec("UniformTypeKVCacheSpecs"), "differ in KV heads or head size"),
        (spec("MambaSpec"), "a MambaSpec, not full attention"),
        (spec(dtype=torch.float8_e4m3fn), "float8_e4m3fn is not supported"),
        (spec(head_size_v=16), "keys and values differ in size"),
    ],
)
def test_other_caches_are_refused_with_the_reason(spec: Any, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        check(spec)


def test_several_groups_of_caches_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="2 groups"):
        check(spec(), groups=2)


def test_attention_with_sinks_is_refused() -> None:
    layer = SimpleNamespace(impl=SimpleNamespace(sinks=torch.zeros(4)))
    with pytest.raises(UnsupportedError, match="sinks"):
        find_ropes({"layer": layer}, CPU)


def test_a_rope_that_needs_more_than_a_position_is_refused() -> None:
    rotary = DualChunkRotaryEmbedding.__new__(DualChunkRotaryEmbedding)
    with pytest.raises(UnsupportedError, match="DualChunkRotaryEmbedding needs more"):
        _rope(rotary, CPU)


def test_a_rope_without_a_table_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="Identity has no table"):
        _rope(torch.nn.Identity(), CPU)


@pytest.mark.parametrize(
    ("attributes", "rotates"),
    [
        ({}, True),
        ({"use_rope": 0}, False),
        ({"_use_rope": True}, True),
        ({"v1": False, "sliding_window": None}, False),
        ({"v1": False, "sliding_window": 4096}, True),
        ({"v1": True, "sliding_window": None}, True),
        ({"apply_rope_all_layers": True, "sliding_window": None}, True),
    ],
)
def test_layers_that_do_not_use_the_rope_they_own_are_known(
    attributes: dict[str, Any], rotates: bool
) -> None:
    module = torch.nn.Identity()
    for name, value in attributes.items():
        setattr(module, name, value)
    assert _rotates(module) is rotates
