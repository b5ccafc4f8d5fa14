"""The scheduler side: plans injections and encodes of requests, and the segments kept.

vLLM asks in this order within one engine step: `lookup` for every waiting request it
tries to admit, `admitted` for those it does, then `step_orders` once. Between steps come
`arrived`, `finished` and `report`. A request is looked up anew after a preemption.

Ownership: `lookup` pins the segments it promises; `step_orders` releases every pin, either
because the load was ordered or because the request was not admitted. A segment that is
being saved stays pinned until the next plan, for its KV is there only after the step. The
worker runs its steps in order, and in a step moves, loads, then saves; so a slot freed in
a step may be given away in it.
"""

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np

from memory_engine.connector.control_requests import ControlRequests
from memory_engine.connector.metadata import (
    Probe,
    StepOrders,
    Transfer,
    WorkerReport,
    page_slots,
    transfer,
)
from memory_engine.connector.protocol.kept_outcomes import KeptOutcomes
from memory_engine.connector.protocol.outcome import Outcome, malformed_outcome
from memory_engine.connector.protocol.params import KEY, VERSION, Op, parse
from memory_engine.connector.protocol.spans import Span
from memory_engine.connector.segments.archive import Archive, ArchiveSettings
from memory_engine.connector.segments.arena import Slots
from memory_engine.connector.segments.tiers import Tiers
from memory_engine.connector.statistics import Counts, Statistics
from memory_engine.connector.tracked_request import TrackedRequest

_NOT_PROBED = "no probe has passed yet: run the conformance gate first"
_COUNTED = {"evicted": "evictions", "promoted": "promotions", "demoted": "demotions"}
_Step = tuple[int, int, list[int]]


class SchedulerSide:
    """Plans loads and saves over `Tiers`; plain Python, no engine needed.

    block_size: tokens of a block of vLLM's KV cache manager. refusal: why the set-up
    cannot be served, "" if it can. key: signing key of requests, empty for none.
    description: of the engine, for callers that ask for its counts; see
    `describe_engine`.
    """

    def __init__(
        self,
        tiers: Tiers,
        block_size: int,
        refusal: str = "",
        key: bytes = b"",
        archive: ArchiveSettings | None = None,
        description: Mapping[str, Any] | None = None,
    ) -> None:
        self._tiers = tiers
        self._block_size = block_size
        self._closed = refusal or _NOT_PROBED
        self._refused = bool(refusal)
        self._key = key
        self._archive = Archive(tiers, archive or ArchiveSettings())
        self._control = ControlRequests(tiers, self._archive)
        self._tracked: dict[str, TrackedRequest] = {}
        self._malformed: dict[str, str] = {}
        self._saving: list[str] = []
        self._counts = Counts()
        self._kept = KeptOutcomes()
        self._description = dict(description or {"start": ""})
        self._stamp: Outcome = {"version": VERSION, "start": self._description["start"]}

    def arrived(self, request_id: str, raw: object, prompt_tokens: int) -> None:
        """A request with parameters `raw` was queued; control operations act at once."""
        try:
            params = parse(raw, prompt_tokens, self._key)
        except ValueError as error:
            self._malformed[request_id] = str(error)
            return
        tracked = self._tracked[request_id] = TrackedRequest(params)
        if params.spans:
            tracked.error = self._closed
        else:
            self._control.carry_out(request_id, tracked)

    def lookup(self, request_id: str, num_tokens: int, local: int) -> int:
        """Count the tokens after the first `local` that the arena supplies. Idempotent.

        Only a run of resident segments that reaches from `local` on counts, and one
        token stays for the forward pass.
        """
        tracked = self._tracked.get(request_id)
        if tracked is None or tracked.params.op not in (Op.INJECT, Op.PROBE):
            return 0
        self._unpin(tracked)
        tracked.load, tracked.local = None, local
        end, missing = self._pin_run(tracked, local) if not tracked.error else (local, [])
        if not tracked.admitted:
            tracked.cached, tracked.missing = local, missing
        return max(0, min(end, num_tokens - 1) - local)

    def admitted(self, request_id: str, external: int) -> None:
        """The request got its blocks, and is promised `external` of the tokens looked up."""
        tracked = self._tracked.get(request_id)
        if tracked is None:
            return
        if external:
            tracked.load = (tracked.local, tracked.local + external)
        if not tracked.admitted:
            tracked.admitted, tracked.injected = True, external

    def needs_step(self, request_id: str) -> bool:
        """True if `step_orders` has anything to do for this request."""
        tracked = self._tracked.get(request_id)
        if tracked is None:
            return False
        if tracked.params.op is Op.ENCODE:
            return tracked.looked_at < len(tracked.params.spans)
        return tracked.load is not None or (tracked.params.op is Op.PROBE and not tracked.probed)

    def step_orders(self, steps: dict[str, _Step]) -> StepOrders:
        """Orders for the step. `steps`: request id -> (computed, scheduled, block ids).

        `computed` tokens are in the pages before the step, `scheduled` more after it. Only
        requests for which `needs_step` holds may be in it.
        """
        loads, saves, probes = [], [], []
        for request_id, tracked in self._tracked.items():
            step = steps.get(request_id)
            if step is not None and tracked.load is not None:
                loads.append(self._load(tracked, tracked.load, step[2]))
            self._unpin(tracked)
            tracked.load = None
        self._tiers.unpin_all(self._saving)
        self._saving = []
        for request_id, (computed, scheduled, blocks) in steps.items():
            tracked, end = self._tracked[request_id], computed + scheduled
            if tracked.params.op is Op.ENCODE and not tracked.error:
                saves += self._saves(tracked, end, blocks)
            elif tracked.params.op is Op.PROBE and not tracked.probed:
                tracked.probed = True
                positions = np.arange(end, dtype=np.int32)
                probes.append(
                    Probe(request_id, page_slots(self._block_size, blocks, 0, end), positions)
                )
        snapshots, restores = self._archive.orders(set(self._saving))
        return StepOrders(
            Transfer.join(loads),
            Transfer.join(saves),
            tuple(probes),
            self._tiers.take_moves(),
            restores,
            snapshots,
        )

    def report(self, report: WorkerReport) -> None:
        """Take in a worker's report; the first probe that passes opens the arena."""
        for request_id, verdict in report.verdicts.items():
            if not self._refused:
                self._closed = verdict.reason
                self._refused = bool(verdict.reason)
            if request_id in self._tracked:
                self._tracked[request_id].verdict = verdict
        for request_id, error in report.archived.items():
            self._archive.report(request_id, error)
            tracked = self._tracked.get(request_id)
            if tracked is not None and tracked.params.op is Op.RESTORE:
                # KV that cannot be read back is computed again: no error.
                tracked.note = error
            elif tracked is not None:
                tracked.error = error

    def finished(self, request_id: str) -> dict[str, Any] | None:
        """The request ended in any way; returns its outcome for the caller, if it has one."""
        if request_id in self._malformed:
            return {KEY: malformed_outcome(self._malformed.pop(request_id))}
        tracked = self._tracked.pop(request_id, None)
        if tracked is None:
            return None
        self._unpin(tracked)
        self._archive.finished(request_id)
        for name, value in tracked.counts().items():
            self._counts.add(name, value)
        if tracked.params.op in (Op.SNAPSHOT, Op.RESTORE, Op.LIST):
            tracked.resident = self._tiers.owned(tracked.params.owner)
            tracked.on_host = self._tiers.on_host(tracked.params.owner)
        return {KEY: self._outcome(tracked)}

    def _outcome(self, tracked: TrackedRequest) -> Outcome:
        params = tracked.params
        if params.op is Op.OUTCOME:
            unknown = {"op": params.op.value, "error": "no outcome is kept under this ticket"}
            return self._stamp | (self._kept.take(params.owner, params.ticket) or unknown)
        refusal = self._closed if self._refused else ""
        outcome = self._stamp | tracked.outcome(refusal, self.stats())
        if params.op is Op.STATS:
            outcome["engine"] = self._description
        if params.ticket:
            self._kept.keep(params.owner, params.ticket, outcome)
        return outcome

    def statistics(self) -> Statistics | None:
        """The counts since the last call."""
        stats = self.stats()
        for name in ("evicted", "promoted", "demoted"):
            self._counts.total(f"{name}_segments", stats[_COUNTED[name]])
        held = {"device_tokens": stats["tokens_used"]}
        return self._counts.take(held | {"host_tokens": stats.get("host_tokens_used", 0)})

    def stats(self) -> dict[str, int]:
        """The counts of the tiers."""
        return self._tiers.stats()

    def check_integrity(self) -> None:
        """Raise RuntimeError on a lost slot, or a pin that nobody holds."""
        self._tiers.check_integrity()
        held = self._saving or any(tracked.pinned for tracked in self._tracked.values())
        if not held and self.stats()["pinned_segments"]:
            raise RuntimeError(f"pins without a request: {self.stats()}")

    def _pin_run(self, tracked: TrackedRequest, local: int) -> tuple[int, list[str]]:
        """Pin the segments at hand that continue from `local`.

        Returns where they end, and the ids of those that are not at hand.
        """
        owner, spans = tracked.params.owner, tracked.params.spans
        wanted = spans[bisect_right(spans.ends, local) :]
        unbroken = bool(spans) and spans[0].start <= local
        tracked.slots = self._tiers.pin_run(owner, wanted.ids, wanted.lengths) if unbroken else []
        count = len(tracked.slots)
        tracked.pinned, rest = wanted.ids[:count], wanted[count:]
        end = wanted.ends[count - 1] if count else local if unbroken else -1
        if unbroken and rest and self._at_hand(owner, rest[0]):
            # In host memory, but the device has no room for all of them at once.
            return end, []
        return end, [span.segment_id for span in rest if not self._at_hand(owner, span)]

    def _at_hand(self, owner: str, span: Span) -> bool:
        """True if the owner has the segment, with as many tokens as the span says."""
        return self._tiers.length(owner, span.segment_id) == span.length

    def _unpin(self, tracked: TrackedRequest) -> None:
        self._tiers.unpin_all(tracked.pinned)
        tracked.pinned, tracked.slots = (), []

    def _load(self, tracked: TrackedRequest, load: tuple[int, int], blocks: list[int]) -> Transfer:
        # The pinned segments are those of the run, in its order, from the first that
        # reaches beyond the local hit.
        start, end = load
        slots = np.concatenate(tracked.slots)
        spans = tracked.params.spans
        first = spans[bisect_right(spans.ends, tracked.local)].start
        return transfer(self._block_size, slots[start - first : end - first], start, end, blocks)

    def _saves(self, tracked: TrackedRequest, computed: int, blocks: list[int]) -> list[Transfer]:
        """Transfers for the spans that the pages hold completely after this step."""
        saves, spans = [], tracked.params.spans
        while tracked.looked_at < len(spans) and spans[tracked.looked_at].end <= computed:
            span = spans[tracked.looked_at]
            tracked.looked_at += 1
            slots = self._make_resident(tracked, span)
            if slots is not None:
                saves.append(transfer(self._block_size, slots, span.start, span.end, blocks))
        return saves

    def _make_resident(self, tracked: TrackedRequest, span: Span) -> Slots | None:
        """New slots for a span; None if it is resident already or cannot be."""
        owner = tracked.params.owner
        if self._at_hand(owner, span):
            self._tiers.touch(owner, span.segment_id)
            tracked.saved.append(span.segment_id)
            return None
        slots = None
        # An id held by another owner, with another length, or dropped and still pinned, is
        # never shared or replaced.
        if not self._tiers.taken(span.segment_id):
            slots = self._tiers.allocate(owner, span.segment_id, span.length)
        if slots is None:
            tracked.rejected.append(span.segment_id)
            return None
        self._saving.append(span.segment_id)
        tracked.saved.append(span.segment_id)
        return slots
