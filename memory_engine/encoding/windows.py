"""Context-Window Encoding: the window a fact is encoded behind, and the resulting segment.

A fact's KV is computed behind a prefix and a window of context, and only its own tokens'
KV is kept. The window is made of what serves beside it: the facts before it, as lines.

    window of N    |            run             |  next run
    f0 ... fN-1    | fN   fN+1   fN+2  ...  fM  | fM+1 ...

Facts are encoded in runs: one prefill of the N facts before the run and then the run's own,
each behind all of those. So a fact costs about its own tokens instead of its whole window;
it has at least N facts before it, and more do no harm (measured: DECISIONS.md). Where runs
begin is read off the facts themselves, so that it does not depend on when they were added,
and that a fact forgotten changes its own run and what lies N facts after it, no more.
"""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from memory_engine.engines.base import EncodeJob
from memory_engine.errors import SettingsError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.prompt.prompt_wording import fact_line, turn_line
from memory_engine.types import MemoryFact, Scope, Span

_RUN_FACTS, _RUN_TOKENS = 16, 512  # no run is longer
_RUN_EVERY = 32  # one fact of so many begins a run, whatever stands before it


@dataclass(frozen=True, slots=True)
class Window:
    """A window policy: `none`, `facts:N` or `turns:N`, at least the N preceding ones."""

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


@dataclass(frozen=True, slots=True)
class FactSegment:
    """A fact's tokens, the context they are encoded behind, and the id of the result.

    Segments of the same `run` are encoded together: the longest context and the tokens
    behind it begin with the context and the tokens of all others.
    """

    segment_id: str
    context: tuple[int, ...]
    token_ids: tuple[int, ...]
    run: int


class EncodeJobs:
    """Names segments, and plans the prefills that make them resident. Pure; computes no KV.

    fingerprint: of the model (`EngineInfo.fingerprint`). prefix: the ids every prompt
    with memories begins with.
    """

    def __init__(self, fingerprint: str, prefix: Sequence[int]) -> None:
        self._fingerprint = fingerprint
        self.prefix = list(prefix)

    def prefix_id(self, owner: str) -> str:
        """The id of the prefix, which is a segment of its own at position 0."""
        return self.segment_id(owner, (), ())

    def runs(self, segments: Iterable[FactSegment]) -> list[list[FactSegment]]:
        """The segments by run, each in the order in which they are encoded."""
        runs: dict[int, list[FactSegment]] = {}
        for segment in segments:
            runs.setdefault(segment.run, []).append(segment)
        return [sorted(run, key=lambda segment: len(segment.context)) for run in runs.values()]

    def job(self, owner: str, run: Sequence[FactSegment]) -> EncodeJob:
        """The prefill that makes segments of one run resident, and the prefix with them.

        run: in order. A run may be encoded in parts, of which the later ones find the tokens
        of the earlier in vLLM's prefix cache.
        """
        spans = [Span(self.prefix_id(owner), 0, len(self.prefix))]
        for segment in run:
            start = len(self.prefix) + len(segment.context)
            end = start + len(segment.token_ids)
            spans.append(Span(segment.segment_id, start, end))
        token_ids = [*self.prefix, *run[-1].context, *run[-1].token_ids]
        return EncodeJob(owner, token_ids, tuple(spans))

    def lead_in(self, owner: str, segment: FactSegment, tokens: int) -> Iterator[EncodeJob]:
        """Prefills of `tokens` new tokens each of what a segment is encoded behind.

        They keep the prefix alone; the rest is in vLLM's prefix cache when the segment's own
        prefill comes, which is left with `tokens` of it at most.
        """
        token_ids = [*self.prefix, *segment.context]
        span = Span(self.prefix_id(owner), 0, len(self.prefix))
        for end in range(tokens, len(token_ids), tokens):
            if end >= len(self.prefix):
                yield EncodeJob(owner, token_ids[:end], (span,))

    def segment_id(self, owner: str, context: Sequence[int], token_ids: Sequence[int]) -> str:
        """The id of what these tokens are behind that context. 32 hexadecimal digits."""
        digest = hashlib.sha256()
        for text in (self._fingerprint, owner):
            digest.update(len(text).to_bytes(8, "big") + text.encode())
        for ids in (self.prefix, context, token_ids):
            digest.update(len(ids).to_bytes(8, "big") + array("q", ids).tobytes())
        return digest.hexdigest()[:32]


class Segmenter(EncodeJobs):
    """Turns an owner's facts into segments, as the window policy says."""

    def __init__(
        self, tokenizer: ChatTokenizer, window: Window, fingerprint: str, prefix: Sequence[int]
    ) -> None:
        super().__init__(fingerprint, prefix)
        self._tokenizer = tokenizer
        self._window = window

    def segments(self, owner: str, facts: Sequence[MemoryFact]) -> dict[str, FactSegment]:
        """The segment of every fact, by fact id. Equal ids mean equal KV.

        A fact's window holds facts of its own scope only: what one conversation may know must
        not leak into another's KV.
        """
        lines = [self._tokenizer.encode(fact_line(fact)) for fact in facts]
        places: dict[Scope, list[int]] = {}
        for place, fact in enumerate(facts):
            places.setdefault(fact.scope, []).append(place)
        found: dict[int, FactSegment] = {}
        for scope in places.values():
            contexts = self._contexts([facts[n] for n in scope], [lines[n] for n in scope])
            for place, (run, context) in zip(scope, contexts, strict=True):
                segment_id = self.segment_id(owner, context, lines[place])
                found[place] = FactSegment(segment_id, context, lines[place], scope[run])
        return {fact.id: found[place] for place, fact in enumerate(facts)}

    def _contexts(
        self, facts: Sequence[MemoryFact], lines: Sequence[tuple[int, ...]]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The run of every fact, and the tokens it is encoded behind."""
        if self._window.kind != "facts":
            for number, fact in enumerate(facts):
                turns = fact.turns[-self._window.size :] if self._window.kind == "turns" else ()
                yield number, tuple(i for t in turns for i in self._tokenizer.encode(turn_line(t)))
            return
        run, context = 0, []
        for index, line in enumerate(lines):
            own = sum(map(len, lines[run:index]))
            if _begins_run(line) or index - run >= _RUN_FACTS or own > _RUN_TOKENS:
                run, before = index, lines[max(0, index - self._window.size) : index]
                context = [i for each in before for i in each]
            yield run, tuple(context)
            context += line


def _begins_run(line: Sequence[int]) -> bool:
    return hashlib.sha256(array("q", line).tobytes()).digest()[0] % _RUN_EVERY == 0
