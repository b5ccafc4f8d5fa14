"""Copies between arena and paged cache in plain torch: the reference, also for the CPU.

`fused` does the same in one kernel launch each; the same tests run both.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import torch

from memory_engine.connector.gpu.pages import PagedLayer
from memory_engine.connector.gpu.rope import Rope
from memory_engine.connector.segments.tier_store import TierStore

# Bytes gathered and rotated at a time. On a GPU it bounds the fp32 scratch; on a CPU a chunk
# has to stay in the cache.
_CHUNK_GPU, _CHUNK_CPU = 1 << 30, 3 << 19


class Copies(Protocol):
    """Interface of the copies. `index` is int32 [3, tokens] on the store's device.

    Its rows are arena slots, flat page slots and positions, as in `metadata.Transfer`.
    Everything is queued on the current stream; nothing waits for the device.
    """

    def load(self, store: TierStore, index: torch.Tensor) -> None:
        """Inject: gather from the arena, rotate for the positions, write the pages."""

    def save(self, store: TierStore, index: torch.Tensor) -> None:
        """Encode: read the pages, undo the rotation, store in the arena."""

    def move(
        self,
        source: TierStore,
        source_slots: torch.Tensor,
        target: TierStore,
        target_slots: torch.Tensor,
    ) -> None:
        """Copy slots of one tier to slots of the other, int32 [tokens] each, on the device."""


class TorchCopies:
    """Copies for any layout that `PagedLayer` has learnt.

    ropes: each RoPE with the layers (rows of `layers`) it belongs to; others have none.
    """

    def __init__(self, layers: Sequence[PagedLayer], ropes: Sequence[tuple[Rope, list[int]]]):
        self._layers = layers
        self._ropes = ropes
        self._scratch = torch.empty(0)

    def load(self, store: TierStore, index: torch.Tensor) -> None:
        arena, pages, positions = index.long()
        keys, values = self._by_layer(arena.numel())
        for part in self._chunks(store, arena):
            kv = store.get(arena[part])
            for rope, rows in self._ropes:
                self._apply(rope.rotate, kv[:, :, 0], rows, positions[part])
            keys[:, part] = kv[:, :, 0].transpose(0, 1)
            values[:, part] = kv[:, :, 1].transpose(0, 1)
        for layer, key, value in zip(self._layers, keys, values, strict=True):
            layer.write(key, value, pages)

    def save(self, store: TierStore, index: torch.Tensor) -> None:
        arena, pages, positions = index.long()
        for part in self._chunks(store, arena):
            store.put(arena[part], self.read(pages[part], positions[part]))

    def move(
        self,
        source: TierStore,
        source_slots: torch.Tensor,
        target: TierStore,
        target_slots: torch.Tensor,
    ) -> None:
        for theirs, ours in zip(source.rows(), target.rows(), strict=True):
            rows = theirs.index_select(0, source_slots.to(theirs.device))
            ours.index_copy_(0, target_slots.to(ours.device).long(), rows.to(ours.device))

    def read(self, pages: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Unrotated KV from the pages: fp32 [tokens, layers, 2, heads, head_dim].

        pages, positions: int64 [tokens].
        """
        kv = torch.stack([layer.read(pages) for layer in self._layers], dim=1).float()
        for rope, rows in self._ropes:
            self._apply(rope.unrotate, kv[:, :, 0], rows, positions)
        return kv

    def _by_layer(self, tokens: int) -> torch.Tensor:
        """Scratch [2, layers, tokens, heads, head_dim]; kept, because fresh pages cost more."""
        first = self._layers[0]
        shape = (2, len(self._layers), tokens, first.num_heads, first.head_dim)
        if self._scratch.numel() < math.prod(shape):
            self._scratch = first.cache.new_empty(math.prod(shape))
        return self._scratch[: math.prod(shape)].view(shape)

    def _chunks(self, store: TierStore, slots: torch.Tensor) -> Iterator[slice]:
        most = _CHUNK_CPU if slots.device.type == "cpu" else _CHUNK_GPU
        size = max(1, most // (store.data[0].numel() * 4))
        return (slice(start, start + size) for start in range(0, slots.numel(), size))

    def _apply(
        self, rotation: "Rotation", keys: torch.Tensor, rows: list[int], positions: torch.Tensor
    ) -> None:
        """Apply `rotation` in place to the layers `rows` of keys [tokens, layers, ...]."""
        if len(rows) == len(self._layers):
            rotation(keys, positions)
        else:
            keys[:, rows] = rotation(keys[:, rows], positions)


class Rotation(Protocol):
    """`Rope.rotate` or `Rope.unrotate`."""

    def __call__(self, keys: torch.Tensor, positions: torch.Tensor) -> torch.Tensor: ...
