"""Fused copies between arena and paged cache on a GPU, one Triton launch each."""

from collections.abc import Sequence
from typing import Any

import torch
from vllm.triton_utils import HAS_TRITON, tl, triton

from memory_engine.connector.gpu import kernels
from memory_engine.connector.gpu.copies import Copies
from memory_engine.connector.gpu.pages import PagedLayer
from memory_engine.connector.gpu.rope import Rope
from memory_engine.connector.segments.tier_store import TierStore

_ROWS = 16  # token heads a program; 16 rows of 128 dimensions keep four warps busy
_WORDS = 1024  # int32 words a program of `copy_rows`
_TYPES = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}


class NotFusedError(Exception):
    """The fused kernels do not serve this model, the message says why; `TorchCopies` does."""


class FusedCopies:
    """Copies for layers whose pages are regular and whose RoPEs have one shape.

    layers, ropes: as for `TorchCopies`. Raises NotFusedError where only that can serve.
    """

    def __init__(self, layers: Sequence[PagedLayer], ropes: Sequence[tuple[Rope, list[int]]]):
        first = layers[0]
        if not HAS_TRITON or first.cache.device.type != "cuda":
            raise NotFusedError("there is no GPU that Triton serves")
        if first.strides is None or not all(layer.same_layout(first) for layer in layers):
            raise NotFusedError("the layers' pages are not regular, or differ")
        kinds = {(rope.rotary_dim, rope.neox) for rope, _ in ropes}
        if len(kinds) > 1:
            raise NotFusedError(f"the layers rotate differently: {sorted(kinds)}")
        rotary_dim, neox = kinds.pop() if kinds else (0, True)
        # The kernels know the tables by address only.
        self._tables = [rope.table.contiguous() for rope, _ in ropes]
        addresses = torch.tensor([[layer.cache.data_ptr(), 0] for layer in layers])
        for table, (_, rows) in zip(self._tables, ropes, strict=True):
            addresses[rows, 1] = table.data_ptr()
        self._addresses = addresses.to(first.cache.device)
        self._strides = (first.cache.stride(0), *first.strides)
        half, dim = rotary_dim // 2, first.head_dim
        self._heads = first.num_heads
        self._constants: dict[str, Any] = {
            "LAYERS": len(layers),
            "HEADS": first.num_heads,
            "DIM": dim,
            "PADDED_DIM": triton.next_power_of_2(dim),
            "HALF": half,
            "PADDED_HALF": triton.next_power_of_2(max(half, 1)),
            "NEOX": neox,
            "PAGE": first.block_size,
            "ROWS": _ROWS,
            "CACHE": getattr(tl, _TYPES[first.cache.dtype]),
        }

    def load(self, store: TierStore, index: torch.Tensor) -> None:
        self._launch("inject", store, index)

    def save(self, store: TierStore, index: torch.Tensor) -> None:
        self._launch("encode", store, index)

    def move(
        self,
        source: TierStore,
        source_slots: torch.Tensor,
        target: TierStore,
        target_slots: torch.Tensor,
    ) -> None:
        for theirs, ours in zip(source.rows(), target.rows(), strict=True):
            words = theirs.shape[1]
            grid = (source_slots.numel(), triton.cdiv(words, _WORDS))
            kernels.copy_rows[grid](theirs, source_slots, ours, target_slots, words, WORDS=_WORDS)

    def _launch(self, name: str, store: TierStore, index: torch.Tensor) -> None:
        tokens = index.shape[1]
        grid = (triton.cdiv(tokens * self._heads, _ROWS), self._constants["LAYERS"])
        scaled = store.scales is not None
        getattr(kernels, name)[grid](
            store.data,
            store.scales if scaled else store.data,
            index,
            self._addresses,
            tokens,
            *self._strides,
            SCALED=scaled,
            **self._constants,
        )


def require_agreement(
    fused: Copies, plain: Copies, layers: Sequence[PagedLayer], store: TierStore
) -> None:
    """Raise NotFusedError unless both copy alike on this model, on a page nobody uses yet.

    It also compiles the kernels, so that no request waits for that.
    """
    tokens = min(layers[0].block_size, store.slots)
    pages = layers[0].spare_slots()[:tokens]
    slots = torch.arange(tokens, device=pages.device)
    index = torch.stack([slots, pages, 7 * slots + 1]).to(torch.int32)
    generator = torch.Generator().manual_seed(0)
    shape = (tokens, len(layers), 2, layers[0].num_heads, layers[0].head_dim)
    kv = torch.randn(shape, generator=generator).to(pages.device)
    found = []
    for copies in (plain, fused):
        store.put(slots, kv)
        copies.load(store, index)
        written = torch.stack([layer.read(pages) for layer in layers], dim=1).float()
        copies.save(store, index)
        found.append((written, store.get(slots)))
    store.data.zero_()
    for layer in layers:
        layer.clear_spare()
    # One unit in the last place of the coarsest type involved, twice.
    step = 2 * max(torch.finfo(t).eps for t in (store.data.dtype, layers[0].cache.dtype))
    for (name, expected), got in zip(
        {"injects": found[0][0], "encodes": found[0][1]}.items(), found[1], strict=True
    ):
        worst = float((got - expected).abs().max() / expected.abs().max())
        if not worst <= step:
            raise NotFusedError(f"the fused kernel {name} with an error of {worst:.2g}")
