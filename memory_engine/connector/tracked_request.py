"""State of a live request that has parameters for the connector, and its outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.protocol.outcome import (
    Outcome,
    control_outcome,
    encode_outcome,
    inject_outcome,
    probe_outcome,
)
from memory_engine.connector.protocol.params import Op, Params
from memory_engine.connector.protocol.spans import Span
from memory_engine.connector.segments.arena import Slots


@dataclass(slots=True)
class TrackedRequest:
    """One request from its arrival to its end.

    `load` and `local` are set anew by every lookup. The outcome is that of the first
    admission, as vLLM's own count of cached tokens is: no caller waited for the tokens that a
    preempted request found when it resumed.
    """

    params: Params
    error: str = ""
    # Ids of the segments that are pinned for it, in order, and the device slots of each.
    pinned: Sequence[str] = ()
    slots: list[Slots] = field(default_factory=list)
    # Tokens [start, end) to load in the coming step, behind the first `local`.
    load: tuple[int, int] | None = None
    local: int = 0
    admitted: bool = False
    cached: int = 0
    injected: int = 0
    missing: list[str] = field(default_factory=list)
    # Spans of an encode request in order; the first `looked_at` have been dealt with.
    looked_at: int = 0
    saved: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    # How many segments a drop, demote or prefetch was about.
    count: int = 0
    # After a restore: why nothing was read. What is at hand of the owner's, and what of it
    # only host memory has.
    note: str = ""
    resident: list[str] = field(default_factory=list)
    on_host: list[str] = field(default_factory=list)
    probed: bool = False
    verdict: Verdict | None = None

    def counts(self) -> dict[str, int]:
        """The request's share of the statistics, in tokens or segments, by their names."""
        spans = self.params.spans
        if self.params.op is Op.ENCODE:
            encoded = _tokens(spans, self.saved)
            return {"encoded_tokens": encoded, "rejected_segments": len(self.rejected)}
        if self.params.op is not Op.INJECT:
            return {}
        planned = spans[-1].end - spans[0].start
        absent = _tokens(spans, self.missing)
        return {
            "planned_tokens": planned,
            "injected_tokens": self.injected,
            "absent_tokens": absent,
            "unreached_tokens": max(0, planned - absent - self.cached - self.injected),
        }

    def outcome(self, refusal: str, arena: dict[str, int]) -> Outcome:
        """The outcome of the finished request, for its caller.

        refusal: why the model is not served, "" if it is or may be. arena: its counts.
        """
        op = self.params.op
        outcome: Outcome = {"op": op.value}
        if self.error:
            return outcome | {"error": self.error}
        if self.note:
            outcome["note"] = self.note
        if op is Op.INJECT:
            spans = self.params.spans
            planned = spans[-1].end - spans[0].start
            outcome |= inject_outcome(planned, self.injected, self.cached, self.missing)
        elif op is Op.ENCODE:
            outcome |= encode_outcome(self.saved, self.rejected)
        elif op is Op.PROBE:
            verdict = self.verdict or Verdict("the probe did not run")
            outcome |= probe_outcome(verdict.reason or refusal, verdict.errors, self.injected)
        else:
            outcome |= control_outcome(self.count, self.resident, self.on_host)
        return outcome | {"arena": arena}


def _tokens(spans: Sequence[Span], segment_ids: Sequence[str]) -> int:
    """Tokens of the spans with these ids."""
    if not segment_ids:
        return 0
    wanted = set(segment_ids)
    return sum(span.length for span in spans if span.segment_id in wanted)
