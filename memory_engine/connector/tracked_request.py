"""What is known of a live request that has parameters for the connector, and its account."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_engine.connector.metadata import Verdict
from memory_engine.connector.protocol.params import Op, Params, Span
from memory_engine.connector.segments.arena import Slots


@dataclass(slots=True)
class TrackedRequest:
    """One request.

    `load` and `local` are set anew by every lookup. What the account tells is that of the
    first admission, as vLLM's own count of cached tokens is: what a preempted request found
    when it resumed is nothing its caller waited for.
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
        """What the request adds to the statistics, in tokens or segments, by their names."""
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

    def account(self, refusal: str, arena: dict[str, int]) -> dict[str, Any]:
        """What happened, for the caller of the finished request.

        refusal: why the model is not served, "" if it is or may be. arena: its counts.
        """
        params = self.params
        account: dict[str, Any] = {"op": str(params.op)}
        if self.error:
            return account | {"error": self.error}
        if self.note:
            account["note"] = self.note
        if params.op is Op.INJECT:
            planned = params.spans[-1].end - params.spans[0].start
            account |= {"planned": planned, "injected": self.injected}
            account |= {"cached": self.cached, "missing": self.missing}
        elif params.op is Op.ENCODE:
            account |= {"saved": self.saved, "rejected": self.rejected}
        elif params.op is Op.PROBE:
            verdict = self.verdict or Verdict("the probe did not run")
            account |= {"reason": verdict.reason or refusal, "errors": verdict.errors}
            account["injected"] = self.injected
        else:
            account |= {"count": self.count, "resident": self.resident, "on_host": self.on_host}
        return account | {"arena": arena}


def _tokens(spans: Sequence[Span], segment_ids: Sequence[str]) -> int:
    """Tokens of the spans with these ids."""
    if not segment_ids:
        return 0
    wanted = set(segment_ids)
    return sum(span.end - span.start for span in spans if span.segment_id in wanted)
