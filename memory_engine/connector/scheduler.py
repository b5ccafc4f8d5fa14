"""The scheduler's side: what is injected into which request, what is encoded, what is kept.

vLLM asks in this order within one engine step: `lookup` for every waiting request it
tries to admit, `admitted` for those it does, then `plan_step` once. Between steps come
`arrived`, `finished` and `report`. A request is looked up anew after a preemption.

Ownership: `lookup` pins the segments it promises; `plan_step` releases every pin, either
because the load was ordered or because the request was not admitted. The worker runs its
steps in order and loads before it saves, so a slot freed in a step may be given to an
encode of the same step.
"""

from dataclasses import dataclass, field
from typing import Any

import torch

from memory_engine.connector.arena import Arena
from memory_engine.connector.metadata import Probe, StepPlan, Transfer, Verdict, WorkerReport
from memory_engine.connector.params import KEY, Op, Params, Span, parse

_NOT_PROBED = "no probe has passed yet: run the conformance gate first"


@dataclass(slots=True)
class _Tracked:
    """What is known of a live request that has parameters for the connector."""

    params: Params
    error: str = ""
    pinned: list[str] = field(default_factory=list)
    # Tokens [start, end) to load in the coming step, and what was loaded at admission.
    load: tuple[int, int] | None = None
    local: int = 0
    injected: int = 0
    missing: list[str] = field(default_factory=list)
    saved: set[str] = field(default_factory=set)
    rejected: list[str] = field(default_factory=list)
    dropped: int = 0
    probed: bool = False
    verdict: Verdict | None = None


class SchedulerSide:
    """Plans loads and saves over an `Arena`; plain Python, no engine needed.

    block_size: tokens of a block of vLLM's KV cache manager. refusal: why the set-up
    cannot be served, "" if it can.
    """

    def __init__(self, arena: Arena, block_size: int, refusal: str = "") -> None:
        self._arena = arena
        self._block_size = block_size
        self._closed = refusal or _NOT_PROBED
        self._refused = bool(refusal)
        self._tracked: dict[str, _Tracked] = {}
        self._malformed: dict[str, str] = {}

    def arrived(self, request_id: str, raw: object, prompt_tokens: int) -> None:
        """A request with parameters `raw` was queued; a `drop` takes effect at once."""
        try:
            params = parse(raw, prompt_tokens)
        except ValueError as error:
            self._malformed[request_id] = str(error)
            return
        tracked = self._tracked[request_id] = _Tracked(params)
        if params.op is Op.DROP:
            tracked.dropped = self._arena.drop(params.owner, params.drop)
        if params.spans:
            tracked.error = self._closed

    def lookup(self, request_id: str, num_tokens: int, local: int) -> int:
        """How many tokens after the first `local` the arena supplies. Idempotent.

        Only a run of resident segments that reaches from `local` on counts, and one
        token stays for the forward pass.
        """
        tracked = self._tracked.get(request_id)
        if tracked is None or tracked.params.op not in (Op.INJECT, Op.PROBE):
            return 0
        self._unpin(tracked)
        tracked.load, tracked.local, tracked.injected, tracked.missing = None, local, 0, []
        if tracked.error or not tracked.params.spans:
            return 0
        end = self._pin_run(tracked, local)
        return max(0, min(end, num_tokens - 1) - local)

    def admitted(self, request_id: str, external: int) -> None:
        """The request got its blocks, and is promised `external` of the tokens looked up."""
        tracked = self._tracked.get(request_id)
        if tracked is None or external == 0:
            return
        tracked.load = (tracked.local, tracked.local + external)
        tracked.injected = external

    def needs_step(self, request_id: str) -> bool:
        """Whether `plan_step` has anything to do for this request."""
        tracked = self._tracked.get(request_id)
        if tracked is None:
            return False
        return tracked.load is not None or tracked.params.op in (Op.ENCODE, Op.PROBE)

    def plan_step(self, steps: dict[str, tuple[int, int, list[int]]]) -> StepPlan:
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
        for request_id, (computed, scheduled, blocks) in steps.items():
            tracked, end = self._tracked[request_id], computed + scheduled
            if tracked.params.op is Op.ENCODE and not tracked.error:
                saves += self._saves(tracked, end, blocks)
            elif tracked.params.op is Op.PROBE and not tracked.probed:
                tracked.probed = True
                positions = torch.arange(end, dtype=torch.int64)
                probes.append(Probe(request_id, self._pages(blocks, positions), positions))
        return StepPlan(Transfer.join(loads), Transfer.join(saves), tuple(probes))

    def report(self, report: WorkerReport) -> None:
        """Take in a worker's report; the first probe that passes opens the arena."""
        for request_id, verdict in report.verdicts.items():
            if not self._refused:
                self._closed = verdict.reason
                self._refused = bool(verdict.reason)
            if request_id in self._tracked:
                self._tracked[request_id].verdict = verdict

    def finished(self, request_id: str) -> dict[str, Any] | None:
        """The request ended in any way; returns its account for the caller, if it has one."""
        if request_id in self._malformed:
            return {KEY: {"op": None, "error": self._malformed.pop(request_id)}}
        tracked = self._tracked.pop(request_id, None)
        if tracked is None:
            return None
        self._unpin(tracked)
        return {KEY: self._account(tracked)}

    def stats(self) -> dict[str, int]:
        """The arena's counts."""
        return self._arena.stats()

    def check_integrity(self) -> None:
        """Raise RuntimeError on a lost slot, or a pin that nobody holds."""
        self._arena.check_integrity()
        held = any(tracked.pinned for tracked in self._tracked.values())
        if not held and self._arena.stats()["pinned_segments"]:
            raise RuntimeError(f"pins without a request: {self._arena.stats()}")

    def _pin_run(self, tracked: _Tracked, local: int) -> int:
        """Pin the resident segments that continue from `local`; return where they end."""
        owner, spans = tracked.params.owner, tracked.params.spans
        end = local if spans[0].start <= local else -1
        for span in spans:
            if span.end <= local:
                continue
            if self._arena.find(owner, span.segment_id) is None:
                tracked.missing.append(span.segment_id)
                continue
            if end >= local and not tracked.missing:
                self._arena.pin(span.segment_id)
                self._arena.touch(span.segment_id)
                tracked.pinned.append(span.segment_id)
                end = span.end
        return end

    def _unpin(self, tracked: _Tracked) -> None:
        for segment_id in tracked.pinned:
            self._arena.unpin(segment_id)
        tracked.pinned = []

    def _load(self, tracked: _Tracked, load: tuple[int, int], blocks: list[int]) -> Transfer:
        start, end = load
        slots = []
        for span in tracked.params.spans:
            first, last = max(span.start, start), min(span.end, end)
            if first < last:
                held = self._arena.slots(span.segment_id)
                slots.append(held[first - span.start : last - span.start])
        positions = torch.arange(start, end, dtype=torch.int64)
        return Transfer(torch.cat(slots), self._pages(blocks, positions), positions)

    def _saves(self, tracked: _Tracked, computed: int, blocks: list[int]) -> list[Transfer]:
        """Transfers for the spans that the pages hold completely after this step."""
        saves = []
        for span in tracked.params.spans:
            done = span.segment_id in tracked.saved or span.segment_id in tracked.rejected
            if span.end <= computed and not done:
                slots = self._make_resident(tracked, tracked.params.owner, span)
                if slots is not None:
                    positions = torch.arange(span.start, span.end, dtype=torch.int64)
                    saves.append(Transfer(slots, self._pages(blocks, positions), positions))
        return saves

    def _make_resident(self, tracked: _Tracked, owner: str, span: Span) -> torch.Tensor | None:
        """New slots for a span; None if it is resident already or cannot be."""
        if self._arena.find(owner, span.segment_id) is not None:
            self._arena.touch(span.segment_id)
            tracked.saved.add(span.segment_id)
            return None
        if self._arena.resident(span.segment_id):
            # Another owner's, or dropped and still pinned: never shared, never replaced.
            tracked.rejected.append(span.segment_id)
            return None
        segment = self._arena.allocate(owner, span.segment_id, span.end - span.start)
        if segment is None:
            tracked.rejected.append(span.segment_id)
            return None
        tracked.saved.add(span.segment_id)
        return segment.slots

    def _pages(self, blocks: list[int], positions: torch.Tensor) -> torch.Tensor:
        table = torch.tensor(blocks, dtype=torch.int64)
        offsets = positions % self._block_size
        return table[positions // self._block_size] * self._block_size + offsets

    def _account(self, tracked: _Tracked) -> dict[str, Any]:
        params = tracked.params
        account: dict[str, Any] = {"op": str(params.op)}
        if tracked.error:
            return account | {"error": tracked.error}
        if params.op is Op.INJECT:
            planned = params.spans[-1].end - params.spans[0].start
            account |= {"planned": planned, "injected": tracked.injected}
            account |= {"cached": tracked.local, "missing": tracked.missing}
        elif params.op is Op.ENCODE:
            account |= {"saved": sorted(tracked.saved), "rejected": tracked.rejected}
        elif params.op is Op.DROP:
            account["dropped"] = tracked.dropped
        elif params.op is Op.PROBE:
            verdict = tracked.verdict or Verdict("the probe did not run")
            account |= {"reason": verdict.reason or self._refusal(), "errors": verdict.errors}
            account["injected"] = tracked.injected
        return account | {"arena": self.stats()}

    def _refusal(self) -> str:
        return self._closed if self._refused else ""
