"""Attention layers as the connector sees them, with pages like FlashAttention's, and a RoPE."""

from types import SimpleNamespace

import torch

from memory_engine.connector.gpu.pages import PagedLayer
from memory_engine.connector.gpu.rope import Rope

BLOCK = 16


class PackedImpl:
    """K and V side by side in the last dimension: [blocks, heads, block, 2 * head_dim]."""

    def do_kv_cache_update(
        self,
        layer: SimpleNamespace,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: torch.Tensor,
        slots: torch.Tensor,
    ) -> None:
        by_token = cache.transpose(1, 2)
        keys, values = by_token[..., : layer.head_size], by_token[..., layer.head_size :]
        block, offset = slots // BLOCK, slots % BLOCK
        keys[block, offset], values[block, offset] = key.to(cache.dtype), value.to(cache.dtype)


def layers(
    count: int,
    heads: int,
    head_dim: int,
    dtype: torch.dtype,
    device: str,
    *,
    blocks: int = 9,
    heads_first: bool = False,
) -> list[PagedLayer]:
    """Layers that have learnt their layout; `heads_first` chooses between two layouts."""
    made: list[PagedLayer] = []
    for _ in range(count):
        if heads_first:
            cache = torch.zeros(blocks, heads, BLOCK, 2 * head_dim, dtype=dtype, device=device)
        else:
            cache = torch.zeros(blocks, BLOCK, heads, 2 * head_dim, dtype=dtype, device=device)
            cache = cache.transpose(1, 2)
        layer = PagedLayer(
            SimpleNamespace(num_kv_heads=heads, head_size=head_dim, impl=PackedImpl()), cache
        )
        layer.learn(made[0] if made else None)
        made.append(layer)
    return made


def rope(rotary_dim: int, device: str, *, neox: bool = True, factor: float = 1.0) -> Rope:
    """RoPE for 600 positions; `factor` as YaRN multiplies its table."""
    frequencies = 1 / 10000 ** (torch.arange(0, rotary_dim, 2) / rotary_dim)
    angles = torch.arange(600)[:, None] * frequencies
    table = torch.cat([angles.cos(), angles.sin()], dim=1) * factor
    return Rope(table.to(device), neox)
