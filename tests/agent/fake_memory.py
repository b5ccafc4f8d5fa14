"""A fake memory engine: words instead of vectors, characters instead of tokens."""

from collections.abc import AsyncGenerator, Mapping, Sequence

import numpy as np

from memory_engine.encoding.residency import Residency, Tier
from memory_engine.engines.base import EncodeJob
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import MessageTooLongError
from memory_engine.retrieval.embedder import EmbeddingModel
from memory_engine.retrieval.fact_vectors import FactVectors
from memory_engine.types import (
    EVERYWHERE,
    Chunk,
    MemoryFact,
    Message,
    Mode,
    Period,
    Plan,
    Prompt,
    Recalled,
    Sampling,
    Scope,
    Span,
)

PREFIX = "You remember: "


def tokens(text: str) -> list[int]:
    return [ord(character) for character in text]


def text_of(prompt: Prompt) -> str:
    """The text of a prompt that the stand-in laid out."""
    return "".join(map(chr, prompt.token_ids))


def _by_words(facts: Sequence[MemoryFact], text: str) -> list[Recalled]:
    """Best first: a tenth for every word that fact and text share."""
    asked = set(text.lower().split())
    scored = [Recalled(f, len(asked & set(f.text.lower().split())) / 10) for f in facts]
    return sorted(scored, key=lambda r: -r.score)


class FakeMemory:
    """Recalls by shared words; a fact is one segment, named by owner and text."""

    def __init__(self, engine: FakeEngine, tail: int = 0) -> None:
        self.engine = engine
        self.retriever = self.layout = self.generator = self
        self.tail = tail
        self.held: dict[str, list[MemoryFact]] = {}
        self.synced: list[tuple[str, tuple[str, ...]]] = []
        self.settled: list[str | None] = []
        self.left_behind: list[str] = []
        self.expected = 0
        self.closed = False

    @property
    def embedding_model(self) -> EmbeddingModel:
        return EmbeddingModel("words", 2)

    async def sync(
        self,
        owner: str,
        facts: Sequence[MemoryFact],
        known: Mapping[str, FactVectors] | None = None,
    ) -> dict[str, FactVectors]:
        before = {fact.id for fact in self.held.get(owner, [])} | (known or {}).keys()
        self.held[owner] = list(facts)
        self.synced.append((owner, tuple(fact.text for fact in facts)))
        wanted = {self._segment(owner, fact.text) for fact in facts}
        wanted.add(self._segment(owner, PREFIX))
        await self.engine.drop(owner, [s for s in self.engine.resident(owner) if s not in wanted])
        resident = self.engine.resident(owner)
        for text in (PREFIX, *(fact.text for fact in facts)):
            span = Span(self._segment(owner, text), 0, len(text))
            if span.segment_id in resident:
                continue
            await self.engine.encode(EncodeJob(owner, tokens(text), (span,)))
        vector = np.asarray([1, 0], dtype=np.float32)
        return {
            fact.id: FactVectors(vector, vector if fact.source else None)
            for fact in facts
            if fact.id not in before
        }

    def holds(self, owner: str) -> bool:
        return owner in self.held

    async def recall(
        self,
        owner: str,
        query: str,
        k: int,
        scope: Scope = EVERYWHERE,
        periods: Sequence[Period] = (),
    ) -> list[Recalled]:
        seen = [fact for fact in self.held.get(owner, []) if scope.sees(fact.scope)]
        return _by_words(seen, query)[:k]

    async def nearest(self, owner: str, texts: Sequence[str], count: int) -> list[list[Recalled]]:
        return [_by_words(self.held.get(owner, []), text)[:count] for text in texts]

    def expect_reply(self, owner: str) -> None:
        self.expected += 1

    async def forget(self, owner: str) -> None:
        self.held.pop(owner, None)
        await self.engine.drop(owner)

    def forget_prompts(self, owner: str) -> None:
        self.left_behind.append(owner)

    def indexed(self, owner: str) -> list[str]:
        return [fact.id for fact in self.held.get(owner, [])]

    async def astray(self, owner: str) -> list[str]:
        wanted = {self._segment(owner, fact.text) for fact in self.held.get(owner, [])}
        wanted.add(self._segment(owner, PREFIX))
        return sorted(set(await self.engine.owned(owner)) - wanted)

    async def residency(self, owner: str) -> Residency:
        await self.engine.arena()
        resident = self.engine.resident(owner)
        facts = self.held.get(owner, [])
        here = {f.id: 1000 for f in facts if self._segment(owner, f.text) in resident}
        waiting = frozenset(f.id for f in facts if f.id not in here)
        return Residency(here, frozenset(), waiting, Tier(1000 * len(here), 1 << 20), Tier(0, 0))

    def plan(
        self,
        owner: str,
        recalled: Sequence[Recalled],
        history: Sequence[Message],
        question: str,
        max_tokens: int,
        *,
        instructions: str = "",
    ) -> Plan:
        limit = self.engine.info.max_model_len - max_tokens
        if len(question) > limit:
            raise MessageTooLongError(
                f"The message has {len(question)} tokens, the limit is {limit}."
            )
        order = {fact.id: n for n, fact in enumerate(self.held.get(owner, []))}
        used = sorted(recalled, key=lambda r: order[r.fact.id])
        ids, spans = tokens(PREFIX), [Span(self._segment(owner, PREFIX), 0, len(PREFIX))]
        for item in used:
            end = len(ids) + len(item.fact.text)
            spans.append(Span(self._segment(owner, item.fact.text), len(ids), end))
            ids += tokens(item.fact.text)
        if instructions:
            ids += tokens(f"\nsystem: {instructions}")
        for message in history:
            ids += tokens(f"\n{message.role}: {message.content}")
        ids += tokens(f"\nuser: {question}\nassistant: ")
        injectable = frozenset(item.fact.id for item in used)
        return Plan(Prompt(owner, ids, tuple(spans)), tuple(used), injectable)

    def stream(self, plan: Plan, mode: Mode, sampling: Sampling) -> AsyncGenerator[Chunk, None]:
        return self.engine.generate(plan.prompt, mode, sampling)

    async def settle(self, owner: str | None = None) -> None:
        self.settled.append(owner)

    async def aclose(self) -> None:
        self.closed = True
        await self.engine.aclose()

    def _segment(self, owner: str, text: str) -> str:
        return f"{owner}|{text}"
