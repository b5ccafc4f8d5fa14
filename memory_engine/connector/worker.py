"""The worker's side: the arena's tensor, and the copies the scheduler side ordered."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from memory_engine.connector.metadata import Probe, StepPlan, Transfer, Verdict, WorkerReport
from memory_engine.connector.model import UnsupportedError, find_ropes
from memory_engine.connector.pages import LayoutError, PagedLayer
from memory_engine.connector.probe import judge
from memory_engine.connector.rope import Rope

# Tokens gathered and rotated at a time. On a GPU it bounds the fp32 scratch (8B: 256 KiB a
# token); on a CPU a chunk has to stay in the cache (SmolLM2: 46 KiB a token).
_CHUNK_GPU, _CHUNK_CPU = 4096, 32


class WorkerSide:
    """Copies KV between one rank's paged cache and its arena.

    The arena is [slots, layers, 2, kv_heads, head_dim] in the cache's dtype, keys
    unrotated. All work is queued on the current stream; nothing waits for the device.
    """

    def __init__(self, slots: int, refusal: str = "") -> None:
        self._slots = slots
        self._refusal = refusal
        self._layers: list[PagedLayer] = []
        self._ropes: list[tuple[Rope, list[int]]] = []
        self._arena = torch.empty(0)
        self._scratch = torch.empty(0)
        self._verdicts: dict[str, Verdict] = {}

    def register(self, caches: dict[str, torch.Tensor], layers: dict[str, Any]) -> None:
        """Learn the caches' layout and the layers' RoPE, and allocate the arena.

        What cannot be served is kept as a refusal, told to whoever sends a probe.
        """
        if self._refusal:
            return
        try:
            self._register(caches, {name: layers[name] for name in caches})
        except (UnsupportedError, LayoutError) as error:
            self._refusal = str(error)

    def load(self, plan: StepPlan) -> None:
        """Inject: gather from the arena, rotate for the serving positions, write the pages."""
        if plan.load is None:
            return
        arena, pages, positions = self._on_device(plan.load)
        keys, values = self._by_layer(arena.numel())
        for part in self._chunks(arena.numel()):
            kv = self._arena.index_select(0, arena[part])
            turned = kv[:, :, 0].to(torch.float32)
            for rope, rows in self._ropes:
                self._turn(rope.rotate, turned, rows, positions[part])
            keys[:, part] = turned.transpose(0, 1)
            values[:, part] = kv[:, :, 1].transpose(0, 1)
        for layer, key, value in zip(self._layers, keys, values, strict=True):
            layer.write(key, value, pages)

    def save(self, plan: StepPlan) -> None:
        """Encode: read the pages, undo the rotation, store in the arena. After the forward."""
        if plan.save is not None:
            arena, pages, positions = self._on_device(plan.save)
            for part in self._chunks(arena.numel()):
                kv = self._read(pages[part], positions[part])
                self._arena.index_copy_(0, arena[part], kv.to(self._arena.dtype))
        for probe in plan.probes:
            self._verdicts[probe.request_id] = self._probe(probe)

    def report(self) -> WorkerReport | None:
        """The verdicts since the last call, if any."""
        if not self._verdicts:
            return None
        verdicts, self._verdicts = self._verdicts, {}
        return WorkerReport(verdicts)

    def _register(self, caches: dict[str, torch.Tensor], layers: dict[str, Any]) -> None:
        device = next(iter(caches.values())).device
        learnt: list[PagedLayer] = []
        for name, cache in caches.items():
            if not hasattr(getattr(layers[name], "impl", None), "do_kv_cache_update"):
                raise UnsupportedError(f"layer {name} has no cache update of its own")
            layer = PagedLayer(layers[name], cache)
            layer.learn(next((known for known in learnt if known.same_layout(layer)), None))
            learnt.append(layer)
        shapes = {(layer.num_heads, layer.head_dim, layer.cache.dtype) for layer in learnt}
        if len(shapes) != 1:
            raise UnsupportedError(f"its layers differ in heads, size or dtype: {shapes}")
        heads, head_dim, dtype = shapes.pop()
        by_rope: dict[int, tuple[Rope, list[int]]] = {}
        for row, rope in enumerate(find_ropes(layers, device).values()):
            if rope is not None:
                by_rope.setdefault(id(rope), (rope, []))[1].append(row)
        self._layers, self._ropes = learnt, list(by_rope.values())
        shape = (self._slots, len(learnt), 2, heads, head_dim)
        self._arena = torch.zeros(shape, dtype=dtype, device=device)
        self._scratch = self._arena.new_empty(0)

    def _by_layer(self, tokens: int) -> torch.Tensor:
        """Scratch [2, layers, tokens, heads, head_dim]; kept, because fresh pages cost more."""
        shape = (2, len(self._layers), tokens, *self._arena.shape[3:])
        if self._scratch.numel() < math.prod(shape):
            self._scratch = self._arena.new_empty(math.prod(shape))
        return self._scratch[: math.prod(shape)].view(shape)

    def _on_device(self, transfer: Transfer) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        move = partial(torch.Tensor.to, device=self._arena.device, non_blocking=True)
        return move(transfer.arena), move(transfer.pages), move(transfer.positions)

    def _chunks(self, tokens: int) -> Iterator[slice]:
        size = _CHUNK_CPU if self._arena.device.type == "cpu" else _CHUNK_GPU
        return (slice(start, start + size) for start in range(0, tokens, size))

    def _read(self, pages: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Unrotated KV from the pages: fp32 [tokens, layers, 2, heads, head_dim]."""
        kv = torch.stack([layer.read(pages) for layer in self._layers], dim=1).float()
        for rope, rows in self._ropes:
            self._turn(rope.unrotate, kv[:, :, 0], rows, positions)
        return kv

    def _turn(
        self, turn: Any, keys: torch.Tensor, rows: list[int], positions: torch.Tensor
    ) -> None:
        """Apply `turn` in place to the layers `rows` of keys [tokens, layers, ...]."""
        if len(rows) == len(self._layers):
            turn(keys, positions)
        else:
            keys[:, rows] = turn(keys[:, rows], positions)

    def _probe(self, probe: Probe) -> Verdict:
        if self._refusal:
            return Verdict(self._refusal)
        device = self._arena.device
        kv = self._read(probe.pages.to(device), probe.positions.to(device))
        return judge(kv, self._arena.dtype)
