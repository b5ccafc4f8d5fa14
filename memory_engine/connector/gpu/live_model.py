"""Facts about the live model: whether it is supported, its layers' RoPE, bytes per token."""

import gc
from typing import Any

import torch
from vllm.model_executor.layers.rotary_embedding import (
    DualChunkRotaryEmbedding,
    MRotaryEmbedding,
    Phi3LongRoPEScaledRotaryEmbedding,
)
from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbeddingBase

from memory_engine.connector.gpu.rope import Rope
from memory_engine.connector.gpu.transformers_rope import runs_through_transformers, shared_ropes
from memory_engine.connector.gpu.unsupported import UnsupportedError


def require_supported(vllm_config: Any, kv_cache_config: Any) -> None:
    """Raise UnsupportedError for set-ups the connector cannot serve.

    One group of full-attention layers in the model's own dtype is supported. Without
    hybrid memory support vLLM stores sliding-window layers like full-attention ones, unless
    all layers slide: then it drops what the window has passed, if anything ever is.
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
    kind = type(spec).__name__
    if kind == "SlidingWindowSpec":
        longest = vllm_config.model_config.max_model_len
        if spec.sliding_window < longest:
            raise UnsupportedError(
                f"its window of {spec.sliding_window} tokens is shorter than the longest prompt "
                f"of {longest}"
            )
    elif kind == "UniformTypeKVCacheSpecs":
        raise UnsupportedError("its layers differ in KV heads or head size")
    elif kind != "FullAttentionSpec":
        raise UnsupportedError(f"its KV cache is a {kind}, not full attention")
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
    Raises UnsupportedError for a RoPE, or an attention, that cannot be understood or checked.
    """
    if any(getattr(layer.impl, "sinks", None) is not None for layer in layers.values()):
        # A sink's share of the attention shrinks with the position, even over equal tokens.
        raise UnsupportedError("its attention has sinks, which the probe cannot tell from an error")
    parents, shared = _around(layers)
    rotating = {name: parent for name, parent in parents.items() if _rotates(parent)}
    known: dict[int, Rope] = {}
    ropes: dict[str, Rope | None] = dict.fromkeys(layers)
    for name, parent in rotating.items():
        rotary = getattr(parent, "rotary_emb", None)
        if rotary is not None:
            if id(rotary) not in known:
                known[id(rotary)] = _rope(rotary, device)
            ropes[name] = known[id(rotary)]
    for model in shared:
        ropes |= shared_ropes(model, rotating, device)
    return ropes


def _around(layers: dict[str, Any]) -> tuple[dict[str, torch.nn.Module], list[torch.nn.Module]]:
    """The module around each attention layer, and the models that own a RoPE for all layers."""
    wanted = {id(layer): name for name, layer in layers.items()}
    parents, models = {}, []
    for module in gc.get_objects():
        if not issubclass(type(module), torch.nn.Module):
            continue
        if runs_through_transformers(module):
            models.append(module)
        for child in module.children():
            if id(child) in wanted:
                parents[wanted[id(child)]] = module
    return parents, models


def _rotates(attention: torch.nn.Module) -> bool:
    """True if a module uses the RoPE it owns; in models with NoPE layers some do not.

    The probe finds a layer that is judged wrongly here.
    """
    for always in ("v1", "apply_rope_all_layers", "force_rope"):
        # Cohere and EXAONE: sliding layers rotate, the others only if this is set.
        if hasattr(attention, always):
            return bool(getattr(attention, always) or getattr(attention, "sliding_window", None))
    return all(getattr(attention, name, True) for name in ("use_rope", "_use_rope", "use_rotary"))


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
