"""Bandwidth of the injection's kernel, against a copy on the same device.

It runs in a process of its own, before the engine is started: this one never starts CUDA,
and the engine wants the memory.
"""

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.speed.workload import PREFIX_TOKENS
from memory_engine.errors import EngineError

if TYPE_CHECKING:
    import torch

    from memory_engine.connector.gpu.pages import PagedLayer
    from memory_engine.connector.gpu.rope import Rope
    from memory_engine.connector.segments.tier_store import TierStore

KS = (50, 200)
_COPIED = 1 << 30  # bytes; many times a GPU's caches
_WARM_UP_SECONDS = 0.2
_BATCHES, _REPEATS = 5, 20
_PAGE = 16


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Shape of one rank's KV cache; `dtype` is a torch type's name."""

    layers: int
    kv_heads: int
    head_dim: int
    dtype: str


def measure_bandwidth(shape: CacheShape, fact_tokens: int) -> dict[str, Any]:
    """Measure GB/s of injecting 50 and 200 facts, and of copies, as the report says them.

    A byte read and written counts twice, in the injection as in the copy. Blocks, some
    seconds. Raises EngineError with what the process failed with.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(_measure, shape, fact_tokens).result()
        except Exception as error:
            raise EngineError(f"The injection could not be timed alone: {error!r}") from error


def _measure(shape: CacheShape, fact_tokens: int) -> dict[str, Any]:
    import torch

    from memory_engine.connector.gpu.fused import FusedCopies
    from memory_engine.connector.segments.tier_store import TierStore

    dtype = getattr(torch, shape.dtype)
    counts = [PREFIX_TOKENS + k * fact_tokens for k in KS]
    layers = synthetic_layers(shape, -(-max(counts) // _PAGE) + 2, "cuda")
    rope = synthetic_rope(shape.head_dim, max(counts), "cuda")
    sizes = (shape.layers, shape.kv_heads, shape.head_dim)
    store = TierStore(max(counts), sizes, dtype, torch.device("cuda"))
    store.data.normal_()
    copies = FusedCopies(layers, [(rope, list(range(shape.layers)))])
    source = torch.empty(_COPIED, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    copy = 2 * _COPIED / _seconds(lambda: target.copy_(source)) / 1e9
    rows = []
    for k, tokens in zip(KS, counts, strict=True):
        index = _index(tokens, layers[0].cache.shape[0] - 2).cuda()
        moved = 2 * tokens * _bytes_a_slot(store)
        inject = partial(copies.load, store, index)
        rate = moved / _seconds(inject) / 1e9
        rows.append(
            {
                "k": k,
                "tokens": tokens,
                "gb_per_s": round(rate, 1),
                "percent_of_copy": round(100 * rate / copy, 1),
                "ms": round(moved / rate / 1e6, 4),
                "host_ms": round(_host_ms(inject), 4),
            }
        )
    return {"copy_gb_per_s": round(copy, 1), "bytes_a_token": _bytes_a_slot(store), "rows": rows}


def synthetic_layers(shape: CacheShape, blocks: int, device: str) -> list["PagedLayer"]:
    """Make attention layers with pages like FlashAttention's, which nobody attends to."""
    import torch

    from memory_engine.connector.gpu.pages import PagedLayer

    layers: list[PagedLayer] = []
    for _ in range(shape.layers):
        size = (blocks, _PAGE, shape.kv_heads, 2 * shape.head_dim)
        cache = torch.zeros(size, dtype=getattr(torch, shape.dtype), device=device)
        layer = PagedLayer(_AttentionLayer(shape), cache.transpose(1, 2))
        layer.learn(layers[0] if layers else None)
        layers.append(layer)
    return layers


def synthetic_rope(head_dim: int, positions: int, device: str) -> "Rope":
    """Make the RoPE of whole heads."""
    import torch

    from memory_engine.connector.gpu.rope import Rope

    frequencies = 1 / 500000 ** (torch.arange(0, head_dim, 2) / head_dim)
    angles = torch.arange(positions)[:, None] * frequencies
    return Rope(torch.cat([angles.cos(), angles.sin()], dim=1).to(device), neox=True)


class _AttentionLayer:
    """The attributes of vLLM's attention layer that `PagedLayer` reads; K beside V in a page."""

    def __init__(self, shape: CacheShape) -> None:
        self.num_kv_heads = shape.kv_heads
        self.head_size = shape.head_dim
        self.impl = self

    def do_kv_cache_update(
        self,
        layer: "_AttentionLayer",
        key: "torch.Tensor",
        value: "torch.Tensor",
        cache: "torch.Tensor",
        slots: "torch.Tensor",
    ) -> None:
        keys, values = cache.transpose(1, 2).tensor_split(2, dim=-1)
        block, offset = slots // _PAGE, slots % _PAGE
        keys[block, offset], values[block, offset] = key.to(cache.dtype), value.to(cache.dtype)


def _index(tokens: int, blocks: int) -> "torch.Tensor":
    """A transfer of `tokens` slots in order to pages in none, int32 [3, tokens]."""
    import torch

    numbers = torch.arange(tokens)
    order = torch.randperm(blocks, generator=torch.Generator().manual_seed(0))
    pages = order[numbers // _PAGE] * _PAGE + numbers % _PAGE
    return torch.stack([numbers, pages, numbers]).int()


def _seconds(work: Callable[[], object]) -> float:
    """Seconds of the device for one call: the median of several batches of calls.

    A GPU that was idle takes a while to reach its clock.
    """
    import torch

    from memory_engine.connector.gpu.device_timer import timing_event

    begun = time.perf_counter()
    while time.perf_counter() - begun < _WARM_UP_SECONDS:
        work()
        torch.cuda.synchronize()
    batches = []
    for _ in range(_BATCHES):
        started, ended = timing_event(), timing_event()
        started.record()
        for _ in range(_REPEATS):
            work()
        ended.record()
        torch.cuda.synchronize()
        batches.append(float(started.elapsed_time(ended)))
    return median(batches) / _REPEATS / 1000


def _host_ms(work: Callable[[], object]) -> float:
    """Milliseconds of this process for one call, whose work is queued only."""
    import torch

    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(_REPEATS):
        work()
    taken = time.perf_counter() - started
    torch.cuda.synchronize()
    return taken / _REPEATS * 1000


def _bytes_a_slot(store: "TierStore") -> int:
    return store.data[0].numel() * store.data.element_size()
