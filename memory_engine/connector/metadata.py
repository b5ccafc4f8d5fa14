"""Messages between the scheduler side and the worker side, once an engine step."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorMetadata,
    KVConnectorWorkerMetadata,
)

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.segments.archive import RestoreOrder, SnapshotOrder
from memory_engine.connector.segments.arena import Slots
from memory_engine.connector.segments.tiers import Move


@dataclass(frozen=True, slots=True)
class Transfer:
    """Tokens to copy between the arena and the pages of one step.

    `index` is int32 [3, tokens], one array so that it reaches the device in one
    copy. Its rows: `arena` slots; `pages`, flat slots of the paged cache (block id * block
    size + offset); `positions` of the tokens in their request.
    """

    index: Slots

    @property
    def arena(self) -> Slots:
        row: Slots = self.index[0]
        return row

    @property
    def pages(self) -> Slots:
        row: Slots = self.index[1]
        return row

    @property
    def positions(self) -> Slots:
        row: Slots = self.index[2]
        return row

    @staticmethod
    def join(parts: Sequence["Transfer"]) -> "Transfer | None":
        """All tokens of a step as one transfer; None if there are none."""
        if len(parts) < 2:
            return parts[0] if parts else None
        return Transfer(np.concatenate([part.index for part in parts], axis=1))


@dataclass(frozen=True, slots=True)
class Probe:
    """A prefill of one repeated token to check the model with.

    `pages` and `positions` as in `Transfer`, int32 [tokens].
    """

    request_id: str
    pages: Slots
    positions: Slots


@dataclass(slots=True)
class StepOrders(KVConnectorMetadata):
    """The worker's orders for one step, in the order of their execution.

    Before the forward pass: `moves` between the tiers, in their order, `restores`, then
    `load`. After it: `save`, then `snapshots`; `probes` before or after it.
    """

    load: Transfer | None = None
    save: Transfer | None = None
    probes: tuple[Probe, ...] = ()
    moves: tuple[Move, ...] = ()
    restores: tuple[RestoreOrder, ...] = ()
    snapshots: tuple[SnapshotOrder, ...] = ()


@dataclass(slots=True)
class WorkerReport(KVConnectorWorkerMetadata):
    """The worker's answers of one step, by request id.

    `archived` says of a snapshot or a restore why it failed, or "".
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    archived: dict[str, str] = field(default_factory=dict)

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "WorkerReport":
        """Merge two ranks' reports: a refusal by any rank and the larger error win."""
        assert isinstance(other, WorkerReport)
        merged = dict(self.verdicts)
        for request_id, theirs in other.verdicts.items():
            ours = merged.get(request_id, Verdict())
            names = ours.errors.keys() | theirs.errors.keys()
            worst = {n: max(ours.errors.get(n, 0.0), theirs.errors.get(n, 0.0)) for n in names}
            merged[request_id] = Verdict(ours.reason or theirs.reason, worst)
        archived = dict(self.archived)
        for request_id, error in other.archived.items():
            archived[request_id] = archived.get(request_id) or error
        return WorkerReport(merged, archived)


def transfer(block_size: int, slots: Slots, start: int, end: int, blocks: list[int]) -> Transfer:
    """Of a request's tokens `start` to `end`, whose KV is at arena `slots`: int32 [tokens]."""
    index = np.empty((3, end - start), dtype=np.int32)
    index[0] = slots
    index[1] = page_slots(block_size, blocks, start, end)
    index[2] = np.arange(start, end)
    return Transfer(index)


def page_slots(block_size: int, blocks: list[int], start: int, end: int) -> Slots:
    """Flat page slots of the tokens `start` to `end` of a request that has `blocks`."""
    first, last = start // block_size, -(-end // block_size)
    table = np.array(blocks[first:last], dtype=np.int32)
    pages = (table[:, None] * block_size + np.arange(block_size, dtype=np.int32)).reshape(-1)
    return pages[start - first * block_size : end - first * block_size]
