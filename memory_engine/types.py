"""Values of the memory engine, in the order in which a request meets them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Literal

from memory_engine.connector.protocol.spans import Span as Span


class Mode(StrEnum):
    """The source of the recalled facts' KV: vLLM's prefill (text) or the arena (kv)."""

    TEXT = "text"
    KV = "kv"


@dataclass(frozen=True, slots=True)
class Scope:
    """The agent and the conversation that a fact belongs to, or that a question is asked in.

    None is any: a fact of `EVERYWHERE` is seen from every scope, and a question asked from
    it sees no other fact.
    """

    agent: str | None = None
    conversation: str | None = None

    @property
    def key(self) -> str:
        """A name, equal for equal scopes and no others; empty for everywhere."""
        return "" if self == EVERYWHERE else json.dumps([self.agent, self.conversation])

    def sees(self, other: "Scope") -> bool:
        """True if a fact of scope `other` may be recalled here."""
        return other.agent in (None, self.agent) and other.conversation in (
            None,
            self.conversation,
        )


EVERYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class MemoryFact:
    """One active fact of one owner.

    `turns` are the dialogue turns before the one the fact was said in, oldest first;
    only the window policy `turns:N` reads them. `source` is the user's turn that said the
    fact, empty for one stated by hand.
    """

    id: str
    text: str
    when: date | None = None
    turns: tuple[str, ...] = ()
    source: str = ""
    scope: Scope = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `start` to `end`, both included."""

    start: date
    end: date


@dataclass(frozen=True, slots=True)
class Recalled:
    """A fact with its relevance to a question: higher is better, comparable in one recall."""

    fact: MemoryFact
    score: float


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation, exactly as it was said."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids, and the segments at their front that KV mode injects.

    `spans` are contiguous, in order, from position 0. Text mode sends the same ids.
    """

    owner: str
    token_ids: list[int]
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters of one request. `temperature` 0 is greedy.

    `cache_salt` sets a request apart from all others in vLLM's prefix cache: requests
    share cached blocks only under equal salts, so a fresh one measures a cold prefill.
    `ignore_eos` goes on to `max_tokens` whatever the model says, which a measurement wants.
    `logprobs` asks for the log probabilities of so many likeliest tokens beside the chosen
    one, as the model gives them: before temperature and before `allowed_tokens`, which are
    the only token ids to choose from, if there are any.
    """

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    json_schema: dict[str, object] | None = None
    cache_salt: str = ""
    ignore_eos: bool = False
    logprobs: int = 0
    allowed_tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts and times of one request, as the engine reported them.

    prompt = injected + cached + prefilled. `missing` are the segment ids that were
    planned and not resident, so vLLM prefilled them as text.
    """

    prompt_tokens: int
    injected_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    missing: tuple[str, ...] = ()
    queue_ms: float = 0.0
    prefill_ms: float = 0.0

    @property
    def prefilled_tokens(self) -> int:
        return self.prompt_tokens - self.injected_tokens - self.cached_tokens


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a reply. The last chunk carries `usage`, and may have no text.

    `logprobs` has a natural log probability by token id for each of `token_ids`, if the
    sampling asked for them.
    """

    text: str
    token_ids: tuple[int, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    logprobs: tuple[Mapping[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A laid-out prompt and the facts that went into it.

    `used` are the facts in the prompt, in prompt order; `injectable` the ids of those
    that lie in the injected part; `left_out` how many recalled facts did not fit.
    """

    prompt: Prompt
    used: tuple[Recalled, ...] = ()
    injectable: frozenset[str] = field(default_factory=frozenset)
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Conformance:
    """The verdict of the conformance gate on a model.

    `checks` maps a check's name to its measured error (relative, no unit).
    """

    supported: bool
    reason: str = ""
    checks: dict[str, float] = field(default_factory=dict)
