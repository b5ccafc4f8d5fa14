"""The worker's side: the tiers' memory, and the copies the scheduler side ordered."""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from memory_engine.connector.copies import Copies, TorchCopies
from memory_engine.connector.fused import FusedCopies, NotFusedError, require_agreement
from memory_engine.connector.metadata import Probe, StepPlan, Verdict, WorkerReport
from memory_engine.connector.model import UnsupportedError, find_ropes
from memory_engine.connector.pages import LayoutError, PagedLayer
from memory_engine.connector.probe import judge
from memory_engine.connector.rope import Rope
from memory_engine.connector.staging import Staging
from memory_engine.connector.store import FP8, Store
from memory_engine.connector.tiers import Direction, Move

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TierSizes:
    """Slots on the device and in host memory, and whether KV is stored in FP8."""

    device: int
    host: int = 0
    fp8: bool = False


class WorkerSide:
    """Copies KV between one rank's paged cache and its stores.

    All work is queued on the current stream; nothing waits for the device.
    """

    def __init__(self, sizes: TierSizes, refusal: str = "") -> None:
        self._sizes = sizes
        self._refusal = refusal

    def register(self, caches: dict[str, torch.Tensor], layers: dict[str, Any]) -> None:
        """Learn the caches' layout and the layers' RoPE, and allocate the stores.

        What cannot be served is kept as a refusal, told to whoever sends a probe.
        """
        if self._refusal:
            return
        try:
            self._register(caches, {name: layers[name] for name in caches})
        except (UnsupportedError, LayoutError) as error:
            self._refusal = str(error)

    def load(self, plan: StepPlan) -> None:
        """Move between the tiers, then inject. Before the forward pass."""
        for move in plan.moves:
            self._move(move)
        if plan.load is not None:
            self._copies.load(self._device, self._on_device(plan.load.index))

    def save(self, plan: StepPlan) -> None:
        """Encode. After the forward pass."""
        if plan.save is not None:
            self._copies.save(self._device, self._on_device(plan.save.index))

    def report(self, plan: StepPlan) -> WorkerReport | None:
        """Look at what is probed. After the forward pass; the verdicts, if any.

        Not in `save`: with speculative decoding vLLM collects reports before it saves.
        """
        if not plan.probes:
            return None
        return WorkerReport({probe.request_id: self._probe(probe) for probe in plan.probes})

    def _register(self, caches: dict[str, torch.Tensor], layers: dict[str, Any]) -> None:
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
        heads, head_dim, self._dtype = shapes.pop()
        by_rope: dict[int, tuple[Rope, list[int]]] = {}
        gpu = learnt[0].cache.device
        for row, rope in enumerate(find_ropes(layers, gpu).values()):
            if rope is not None:
                by_rope.setdefault(id(rope), (rope, []))[1].append(row)
        stored = FP8 if self._sizes.fp8 else self._dtype
        shape = (len(learnt), heads, head_dim)
        self._device = Store(self._sizes.device, shape, stored, gpu)
        self._host = Store(
            self._sizes.host, shape, stored, torch.device("cpu"), pin=gpu.type == "cuda"
        )
        self._staging = Staging(gpu)
        self._plain = TorchCopies(learnt, list(by_rope.values()))
        self._copies = self._fastest(learnt, list(by_rope.values()))

    def _fastest(self, layers: list[PagedLayer], ropes: list[tuple[Rope, list[int]]]) -> Copies:
        try:
            fused = FusedCopies(layers, ropes)
            require_agreement(fused, self._plain, layers, self._device)
        except NotFusedError as error:
            if layers[0].cache.device.type == "cuda":
                _log.warning("KV is injected layer by layer, which is slower: %s.", error)
            return self._plain
        return fused

    def _move(self, move: Move) -> None:
        device, host = self._on_device(move.device), self._on_device(move.host)
        if move.direction is Direction.PROMOTE:
            self._copies.move(self._host, host, self._device, device)
        else:
            self._copies.move(self._device, device, self._host, host)

    def _on_device(self, index: NDArray[np.int32]) -> torch.Tensor:
        return self._staging.send(torch.from_numpy(index))

    def _probe(self, probe: Probe) -> Verdict:
        if self._refusal:
            return Verdict(self._refusal)
        device = self._device.data.device
        pages, positions = (
            torch.from_numpy(array).to(device).long() for array in (probe.pages, probe.positions)
        )
        return judge(self._plain.read(pages, positions), self._dtype)
