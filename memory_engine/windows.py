"""Context-Window Encoding: what a fact is encoded behind, and the segment that results.

A fact's KV is computed behind a prefix and a window of context, and only its own tokens'
KV is kept. The window is made of what serves beside it: the facts before it, as lines.
"""

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from memory_engine.engines.base import EncodeJob
from memory_engine.errors import SettingsError
from memory_engine.tokens import ChatTokenizer
from memory_engine.types import MemoryFact, Span
from memory_engine.wording import fact_line, turn_line


@dataclass(frozen=True, slots=True)
class Window:
    """A window policy: `none`, `facts:N` or `turns:N`, N preceding ones."""

    kind: Literal["none", "facts", "turns"]
    size: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a policy; SettingsError says what is allowed."""
        kind, _, size = text.strip().partition(":")
        if kind == "none" and not size:
            return cls("none")
        if kind in ("facts", "turns") and size.isascii() and size.isdigit() and int(size) > 0:
            return cls("facts" if kind == "facts" else "turns", int(size))
        raise SettingsError(f"INFERSCALE_WINDOW is {text!r}: use none, facts:N or turns:N, N >= 1.")

    def lines(self, facts: Sequence[MemoryFact], index: int) -> list[str]:
        """The lines that `facts[index]` is encoded behind, oldest first."""
        if self.kind == "facts":
            return [fact_line(fact) for fact in facts[max(0, index - self.size) : index]]
        if self.kind == "turns":
            return [turn_line(turn) for turn in facts[index].turns[-self.size :]]
        return []


@dataclass(frozen=True, slots=True)
class FactSegment:
    """A fact's tokens, the context they are encoded behind, and the id of the result."""

    segment_id: str
    context: tuple[int, ...]
    token_ids: tuple[int, ...]


class Encoder:
    """Turns one owner's facts into segments and encode jobs. Pure; computes no KV.

    fingerprint: of the model (`EngineInfo.fingerprint`). prefix: the ids every prompt
    with memories begins with.
    """

    def __init__(
        self, tokenizer: ChatTokenizer, window: Window, fingerprint: str, prefix: Sequence[int]
    ) -> None:
        self._tokenizer = tokenizer
        self._window = window
        self._fingerprint = fingerprint
        self.prefix = list(prefix)

    def segments(self, owner: str, facts: Sequence[MemoryFact]) -> dict[str, FactSegment]:
        """The segment of every fact, by fact id. Equal ids mean equal KV."""
        segments = {}
        for index, fact in enumerate(facts):
            window = self._window.lines(facts, index)
            context = tuple(i for line in window for i in self._tokenizer.encode(line))
            token_ids = self._tokenizer.encode(fact_line(fact))
            segment_id = self._segment_id(owner, context, token_ids)
            segments[fact.id] = FactSegment(segment_id, context, token_ids)
        return segments

    def prefix_id(self, owner: str) -> str:
        """The id of the prefix, which is a segment of its own at position 0."""
        return self._segment_id(owner, (), ())

    def job(self, owner: str, segment: FactSegment) -> EncodeJob:
        """The prefill that makes a segment resident, and the prefix with it."""
        start = len(self.prefix) + len(segment.context)
        return EncodeJob(
            owner,
            [*self.prefix, *segment.context, *segment.token_ids],
            (
                Span(self.prefix_id(owner), 0, len(self.prefix)),
                Span(segment.segment_id, start, len(segment.token_ids)),
            ),
        )

    def _segment_id(self, owner: str, context: Sequence[int], token_ids: Sequence[int]) -> str:
        digest = hashlib.sha256()
        for text in (self._fingerprint, owner):
            digest.update(len(text).to_bytes(8, "big") + text.encode())
        for ids in (self.prefix, context, token_ids):
            digest.update(len(ids).to_bytes(8, "big") + array("q", ids).tobytes())
        return digest.hexdigest()[:32]
