"""What the connector needs to know of the live model: its layers, their RoPE, its limits."""

import gc
from typing import Any

import torch
from vllm.model_executor.layers.rotary_embedding import (
    DualChunkRotaryEmbedding,
    MRotaryEmbedding,
    Phi3LongRoPEScaledRotaryEmbedding,
)
from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbeddingBase

from memory_engine.connector.rope import Rope


class UnsupportedError(Exception):
    """KV injection cannot be right for this model or engine set-up; the message says why."""


def require_supported(vllm_config: Any, kv_cache_config: Any) -> None:
    """Raise UnsupportedError for set-ups the connector cannot serve.

    One group of full-attention layers in the model's own dtype is supported. Without
    hybrid memory support vLLM stores sliding-window layers like full-attention ones.
    """
    parallel = vllm_config.parallel_config
    if parallel.pipeline_parallel_size > 1:
        raise UnsupportedError("pipeline parallelism is not supported")
    if parallel.decode_context_parallel_size > 1:
        raise UnsupportedError("decode context parallelism is not supported")
    groups = kv_cache_config.kv_cache_groups
    if len(groups) != 1:
        raise UnsupportedError(f"the model has {len(groups)} groups of KV caches, not one")
    spec = groups[0].kv_cache_spec
    if type(spec).__name__ != "FullAttentionSpec":
        raise UnsupportedError(f"its KV cache is a {type(spec).__name__}, not full attention")
    if spec.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        raise UnsupportedError(f"a KV cache of {spec.dtype} is not supported")
    if getattr(spec, "head_size_v", spec.head_size) != spec.head_size:
        raise UnsupportedError("its keys and values differ in size")


def kv_bytes_per_token(kv_cache_config: Any, *, fp8: bool = False) -> int:
    """Bytes of one token's keys and values over all layers of a rank, as they are stored."""
    group = kv_cache_config.kv_cache_groups[0]
    spec = group.kv_cache_spec
    vectors = len(group.layer_names) * 2 * spec.num_kv_heads
    itemsize = torch.empty(0, dtype=spec.dtype).element_size()
    return int(vectors * (spec.head_size + 4 if fp8 else spec.head_size * itemsize))


def find_ropes(layers: dict[str, Any], device: torch.device) -> dict[str, Rope | None]:
    """Each attention layer's RoPE by name; None for a layer without one.

    vLLM hands a connector the attention layers but not the modules around them, so the
    parent of each, which owns `rotary_emb`, is looked up among the live objects.
    """
    wanted = {id(layer): name for name, layer in layers.items()}
    ropes: dict[str, Rope | None] = dict.fromkeys(layers)
    known: dict[int, Rope] = {}
    for module in gc.get_objects():
        if not issubclass(type(module), torch.nn.Module):
            continue
        for child in module.children():
            name = wanted.get(id(child))
            rotary = getattr(module, "rotary_emb", None)
            if name is not None and rotary is not None:
                if id(rotary) not in known:
                    known[id(rotary)] = _rope(rotary, device)
                ropes[name] = known[id(rotary)]
    return ropes


def _rope(rotary: Any, device: torch.device) -> Rope:
    kind = type(rotary).__name__
    if isinstance(rotary, DualChunkRotaryEmbedding | MRotaryEmbedding):
        raise UnsupportedError(f"{kind} needs more than a token's position")
    if isinstance(rotary, Phi3LongRoPEScaledRotaryEmbedding):
        # The engine chooses the short or the long half once, by its maximum length.
        split = rotary.original_max_position_embeddings if rotary.use_long_rope else 0
        table, neox = rotary.long_short_cos_sin_cache[split:], True
    elif isinstance(rotary, RotaryEmbeddingBase) and rotary.cos_sin_cache.dim() == 2:
        table, neox = rotary.cos_sin_cache, bool(rotary.is_neox_style)
    else:
        raise UnsupportedError(f"{kind} has no table of cosines and sines by position")
    return Rope(table.detach().to(device, torch.float32), neox)
