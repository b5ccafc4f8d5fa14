"""Outcomes: what the connector did with a request, in `kv_transfer_params` of its response.

    {"version": 2, "start": <id of the engine's start>, "op": <op>, <fields of the op>,
     "arena": <counts>}

    op               fields of the op
    inject           planned, injected and cached tokens, missing segment ids
    encode           saved and rejected segment ids
    probe            reason: of a refusal, or ""; errors by check; injected tokens
    stats            as the other operations, and engine: its description
    other            count of segments, resident ids, on_host ids, and perhaps a note
    any, refused     error instead of the fields; op is null if it could not be read

A request's `TrackedRequest` fills in the fields; `engines` reads them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memory_engine.connector.protocol.params import VERSION
from memory_engine.connector.protocol.spans import Span

Outcome = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArenaStats:
    """Contents of the arena, on the device and in host memory behind it.

    `tokens_used` of `EngineInfo.arena_tokens`. `evictions` from the device, and `promotions`
    and `demotions` between the tiers, are segments since the start.
    """

    segments: int
    tokens_used: int
    pinned_segments: int
    host_segments: int = 0
    host_tokens_used: int = 0
    evictions: int = 0
    promotions: int = 0
    demotions: int = 0


class Injection(NamedTuple):
    """Result of an injection: tokens injected, and ids of the segments that were missing."""

    tokens: int
    missing: tuple[str, ...]


def inject_outcome(planned: int, injected: int, cached: int, missing: Sequence[str]) -> Outcome:
    """Fields for an injection: tokens, and the ids of segments that were not at hand."""
    return {"planned": planned, "injected": injected, "cached": cached, "missing": missing}


def read_injection(outcome: Mapping[str, Any], spans: Sequence[Span]) -> Injection:
    """The result of a request to inject `spans`. A refused injection misses all of them."""
    missing = outcome.get("missing", ())
    if outcome.get("error"):
        missing = [span.segment_id for span in spans]
    return Injection(int(outcome.get("injected", 0)), tuple(missing))


def encode_outcome(saved: Sequence[str], rejected: Sequence[str]) -> Outcome:
    """Fields for an encode: segment ids that are resident now, and those that are not."""
    return {"saved": saved, "rejected": rejected}


def probe_outcome(reason: str, errors: Mapping[str, float], injected: int) -> Outcome:
    """Fields for a probe: why the model is refused, or "", and relative errors by check."""
    return {"reason": reason, "errors": errors, "injected": injected}


def control_outcome(count: int, resident: Sequence[str], on_host: Sequence[str]) -> Outcome:
    """Fields for a control request: how many segments it was about, and the owner's ids."""
    return {"count": count, "resident": resident, "on_host": on_host}


def malformed_outcome(error: str) -> Outcome:
    """The outcome of a request that could not be read."""
    return {"version": VERSION, "op": None, "error": error}


def read_arena_stats(counts: Mapping[str, int]) -> ArenaStats:
    """The counts in `arena`."""
    return ArenaStats(
        segments=counts["segments"],
        tokens_used=counts["tokens_used"],
        pinned_segments=counts["pinned_segments"],
        host_segments=counts.get("host_segments", 0),
        host_tokens_used=counts.get("host_tokens_used", 0),
        evictions=counts["evictions"],
        promotions=counts["promotions"],
        demotions=counts["demotions"],
    )


def version_error(outcome: Mapping[str, Any]) -> str:
    """Why an outcome cannot be understood: another version wrote it. "" if it can."""
    version = outcome.get("version", 1)
    if version == VERSION:
        return ""
    return (
        f"The engine has another version of InferScale's connector: it speaks version {version} "
        f"of the protocol, this program version {VERSION}. Run one version of InferScale on both."
    )
