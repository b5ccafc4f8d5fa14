"""Events of a streamed reply, from the first token to the reply's trace."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from memory_engine.types import Mode


@dataclass(frozen=True, slots=True)
class Timings:
    """Stages of the time to the first token, in milliseconds."""

    recall_ms: float
    plan_ms: float
    queue_ms: float
    prefill_ms: float


@dataclass(frozen=True, slots=True)
class UsedFact:
    """A fact that was in the prompt. `injected` means its KV came from the arena.

    `source` is the user's message that said it, empty for one stated by hand. In the trace of
    an earlier reply, the text of a fact that was forgotten since is empty.
    """

    id: str
    text: str
    when: date | None
    score: float
    injected: bool
    source: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class FirstToken:
    """The first non-empty text arrived: engine time and time since the user's message."""

    ttft_ms: float
    e2e_ttft_ms: float


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished reply and its trace. Times are milliseconds, counts are tokens.

    `tpot_ms` is the mean time of an output token after the first, and `left_out` how many
    recalled facts did not fit the context.
    """

    reply: str
    mode: Mode
    conversation_id: str | None
    finish_reason: str
    ttft_ms: float
    e2e_ttft_ms: float
    timings: Timings
    prompt_tokens: int
    injected_tokens: int
    cached_tokens: int
    prefilled_tokens: int
    output_tokens: int
    facts: tuple[UsedFact, ...] = ()
    left_out: int = 0
    tpot_ms: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """The reply as plain values, ready for `json.dumps`."""
        fields = asdict(self)
        for fact in fields["facts"]:
            fact["when"] = fact["when"].isoformat() if fact["when"] else None
        return fields


ReplyEvent = TextDelta | FirstToken | Reply
