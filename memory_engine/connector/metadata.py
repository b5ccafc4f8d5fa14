"""What the scheduler side and the worker side tell each other, once an engine step."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorMetadata,
    KVConnectorWorkerMetadata,
)


@dataclass(frozen=True, slots=True)
class Transfer:
    """Tokens to copy between arena and pages; all tensors int64 of shape [tokens], CPU.

    `pages` are flat slots of the paged cache (block id * block size + offset),
    `positions` the tokens' positions in their request.
    """

    arena: torch.Tensor
    pages: torch.Tensor
    positions: torch.Tensor

    @staticmethod
    def join(parts: Sequence["Transfer"]) -> "Transfer | None":
        """All tokens of a step as one transfer; None if there are none."""
        if len(parts) < 2:
            return parts[0] if parts else None
        return Transfer(
            torch.cat([p.arena for p in parts]),
            torch.cat([p.pages for p in parts]),
            torch.cat([p.positions for p in parts]),
        )


@dataclass(frozen=True, slots=True)
class Probe:
    """A prefill of one repeated token to check the model with; `pages` as in Transfer."""

    request_id: str
    pages: torch.Tensor
    positions: torch.Tensor


@dataclass(slots=True)
class StepPlan(KVConnectorMetadata):
    """The worker's orders for one step: load before the forward pass, save after it."""

    load: Transfer | None = None
    save: Transfer | None = None
    probes: tuple[Probe, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a probe found. `errors` are relative deviations by check; `reason` if refused."""

    reason: str = ""
    errors: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class WorkerReport(KVConnectorWorkerMetadata):
    """The worker's answers of one step: verdicts by request id."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "WorkerReport":
        """Merge two ranks' reports: a refusal by any rank and the larger error win."""
        assert isinstance(other, WorkerReport)
        merged = dict(self.verdicts)
        for request_id, theirs in other.verdicts.items():
            ours = merged.get(request_id, Verdict())
            names = ours.errors.keys() | theirs.errors.keys()
            worst = {n: max(ours.errors.get(n, 0.0), theirs.errors.get(n, 0.0)) for n in names}
            merged[request_id] = Verdict(ours.reason or theirs.reason, worst)
        return WorkerReport(merged)
