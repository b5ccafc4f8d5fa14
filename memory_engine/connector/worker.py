"""The worker side: the tiers' memory, and the copies that the scheduler side orders."""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from memory_engine.connector.gpu.copies import Copies, TorchCopies
from memory_engine.connector.gpu.device_timer import DeviceTimer
from memory_engine.connector.gpu.fused import FusedCopies, NotFusedError, require_agreement
from memory_engine.connector.gpu.live_model import find_ropes
from memory_engine.connector.gpu.pages import LayoutError, PagedLayer
from memory_engine.connector.gpu.probe import Verdict, judge
from memory_engine.connector.gpu.rope import Rope
from memory_engine.connector.gpu.staging import Staging
from memory_engine.connector.gpu.unsupported import UnsupportedError
from memory_engine.connector.metadata import Probe, StepOrders, WorkerReport
from memory_engine.connector.segments import snapshots
from memory_engine.connector.segments.archive import RestoreOrder, SnapshotOrder
from memory_engine.connector.segments.tier_store import FP8, TierStore
from memory_engine.connector.segments.tiers import Direction, Move
from memory_engine.connector.statistics import Counts, Statistics

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TierSizes:
    """Slots on the device and in host memory, and whether KV is stored in FP8."""

    device: int
    host: int = 0
    fp8: bool = False


class WorkerSide:
    """Copies KV between one rank's paged cache and its stores.

    rank: this rank's number, and how many there are. All work but snapshots is queued on the
    current stream; nothing waits for the device.
    """

    def __init__(self, sizes: TierSizes, refusal: str = "", rank: tuple[int, int] = (0, 1)) -> None:
        self._sizes = sizes
        self._refusal = refusal
        self._rank, self._ranks = rank
        self._archived: dict[str, str] = {}
        self._counts = Counts()
        self._loaded: StepOrders | None = None

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

    @torch.inference_mode()
    def load_early(self, orders: StepOrders) -> None:
        """`load`, on the thread of the steps and as soon as the orders are made, once and for all.

        While vLLM prepares the inputs of a step, the device has nothing else to do.
        """
        self.load(orders)
        self._loaded = orders

    def load(self, orders: StepOrders) -> None:
        """Move between the tiers, then inject. Before the forward pass."""
        if orders is self._loaded or not (orders.moves or orders.restores or orders.load):
            return
        with self._clock.measured("inject_seconds"):
            for move in orders.moves:
                self._move(move)
            for order in orders.restores:
                self._archived[order.request_id] = self._restore(order)
            if orders.load is not None:
                self._copies.load(self._device, self._on_device(orders.load.index))

    def save(self, orders: StepOrders) -> None:
        """Encode. After the forward pass."""
        if orders.save is not None:
            with self._clock.measured("encode_seconds"):
                self._copies.save(self._device, self._on_device(orders.save.index))
        for order in orders.snapshots:
            self._archived[order.request_id] = self._snapshot(order)

    def report(self, orders: StepOrders) -> WorkerReport | None:
        """Look at what is probed. After the forward pass; the answers, if any.

        Not in `save`: with speculative decoding vLLM collects reports before it saves.
        """
        if not orders.probes and not self._archived:
            return None
        verdicts = {probe.request_id: self._probe(probe) for probe in orders.probes}
        archived, self._archived = self._archived, {}
        return WorkerReport(verdicts, archived)

    def statistics(self) -> Statistics | None:
        """The device's time since the last call, of the first rank."""
        if self._refusal or self._rank != 0:
            return None
        for name, seconds in self._clock.take().items():
            self._counts.add(name, seconds)
        return self._counts.take({})

    def _register(self, caches: dict[str, torch.Tensor], layers: dict[str, Any]) -> None:
        # Layers that read the KV of others have none of their own.
        caches = {
            name: cache
            for name, cache in caches.items()
            if not getattr(layers[name], "kv_sharing_target_layer_name", None)
        }
        layers = {name: layers[name] for name in caches}
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
        self._device = TierStore(self._sizes.device, shape, stored, gpu)
        self._host = TierStore(
            self._sizes.host, shape, stored, torch.device("cpu"), pin=gpu.type == "cuda"
        )
        self._staging = Staging(gpu)
        self._clock = DeviceTimer(gpu)
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

    def _snapshot(self, order: SnapshotOrder) -> str:
        """Write it; why that failed, or ""."""
        parts = []
        for device, host in zip(self._device.rows(), self._host.rows(), strict=True):
            on_device = device[torch.from_numpy(order.held.device).long().to(device.device)]
            on_host = host[torch.from_numpy(order.held.host).long()]
            parts.append(torch.cat([on_device.cpu(), on_host]))
        path = snapshots.path_of(order.folder, order.owner, self._rank, self._ranks)
        try:
            snapshots.write(path, order.contents, parts)
            if self._rank == 0:
                snapshots.prune(order.folder, order.budget, order.owner)
        except OSError as error:
            return str(error)
        return ""

    def _restore(self, order: RestoreOrder) -> str:
        """Read it; why that failed, or ""."""
        reserved = order.reserved
        path = snapshots.path_of(order.folder, order.owner, self._rank, self._ranks)
        targets = (self._host if reserved.on_host else self._device).rows()
        try:
            found = snapshots.read(path, order.version)
        except OSError as error:
            return str(error)
        if [each.shape[1] for each in found] != [each.shape[1] for each in targets]:
            return f"{path} holds tokens of another size"
        rows = torch.from_numpy(reserved.rows).long()
        slots = torch.from_numpy(reserved.slots).long().to(targets[0].device)
        for part, target in zip(found, targets, strict=True):
            target.index_copy_(0, slots, part[rows].to(target.device))
        return ""

    def _on_device(self, index: NDArray[np.int32]) -> torch.Tensor:
        return self._staging.send(torch.from_numpy(index))

    def _probe(self, probe: Probe) -> Verdict:
        if self._refusal:
            return Verdict(self._refusal)
        device = self._device.data.device
        pages, positions = (
            torch.from_numpy(array).to(device).long() for array in (probe.pages, probe.positions)
        )
        dtypes = (self._dtype, self._device.data.dtype)
        return judge(self._plain.read(pages, positions), *dtypes)
