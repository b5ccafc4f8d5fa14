"""Facts of a person, and a question asked of a memory engine."""

from datetime import date

from memory_engine.memory import Memory
from memory_engine.types import (
    MemoryFact,
    Mode,
    Sampling,
    Usage,
)

TEXTS = ["My dog is called Biscuit.", "I work as a baker.", "I live in Bern.", "I play the cello."]


def person(texts: list[str]) -> list[MemoryFact]:
    return [MemoryFact(f"id {t}", t, date(2026, 1, 1 + i)) for i, t in enumerate(texts)]


async def ask(memory: Memory, owner: str, question: str) -> tuple[list[str], Usage]:
    recalled = await memory.retriever.recall(owner, question, 10)
    plan = memory.layout.plan(owner, recalled, [], question, 50)
    async for chunk in memory.generator.stream(plan, Mode.KV, Sampling(max_tokens=5)):
        if chunk.usage is not None:
            return [r.fact.text for r in recalled], chunk.usage
    raise AssertionError("a reply without usage")
