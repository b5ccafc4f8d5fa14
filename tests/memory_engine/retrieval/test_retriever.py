"""Recall over one embedding model: the right facts, of the right owner, in the right scope."""

from datetime import date

from memory_engine.memory import Memory
from memory_engine.types import (
    MemoryFact,
    Period,
    Scope,
)
from tests.memory_engine.memory_builder import TEXTS, person


async def test_recall_finds_the_fact_that_answers(memory: Memory) -> None:
    await memory.sync("anna", person(TEXTS))
    assert [
        r.fact.text for r in await memory.retriever.recall("anna", "What is my pet's name?", 1)
    ] == ["My dog is called Biscuit."]


async def test_nobody_recalls_anothers_facts(memory: Memory) -> None:
    await memory.sync("anna", person(TEXTS))
    await memory.sync("ben", person(["I keep bees."]))
    assert [
        r.fact.text for r in await memory.retriever.recall("ben", "What is the dog's name?", 9)
    ] == ["I keep bees."]
    assert await memory.retriever.recall("carl", "What is the dog's name?", 9) == []


async def test_recall_keeps_to_the_scope_and_prefers_the_time_asked_for(memory: Memory) -> None:
    runs = ("ten", "six", "two")
    facts = [
        MemoryFact(miles, f"I ran {miles} miles.", date(2026, month, 9))
        for month, miles in enumerate(runs, start=1)
    ]
    await memory.sync("anna", [*facts, MemoryFact("s", "I ran in secret.", scope=Scope("coach"))])
    february = Period(date(2026, 2, 1), date(2026, 2, 28))
    found = await memory.retriever.recall("anna", "How far did I run?", 9, periods=[february])
    assert found[0].fact.text == "I ran six miles."
    assert "s" not in {r.fact.id for r in found}
    coached = await memory.retriever.recall("anna", "What do I do in secret?", 1, Scope("coach"))
    assert coached[0].fact.id == "s"


async def test_a_scope_is_a_hard_filter_before_the_ranking(memory: Memory) -> None:
    coach = [MemoryFact(f"c{n}", f"I ski slope {n}.", scope=Scope("coach")) for n in range(5)]
    here = MemoryFact("here", "I ski here.", scope=Scope(None, "7"))
    await memory.sync("anna", [*coach, here, *person(["I live in Bern."])])

    async def seen(**where: str) -> list[str]:
        found = await memory.retriever.recall("anna", "Where do I ski?", 2, Scope(**where))
        return [recalled.fact.id for recalled in found]

    assert await seen() == ["id I live in Bern."]
    assert await seen(conversation="7") == ["here", "id I live in Bern."]
    assert set(await seen(agent="coach")) < {f.id for f in coach}


async def test_the_nearest_facts_are_those_nearest_by_cosine(memory: Memory) -> None:
    await memory.sync("anna", person(TEXTS))
    found = await memory.retriever.nearest("anna", ["My home is in Bern.", "Biscuit is my dog."], 2)
    assert [each[0].fact.text for each in found] == ["I live in Bern.", "My dog is called Biscuit."]
    assert all(0.5 < each[0].score <= 1 and len(each) == 2 for each in found)
    assert await memory.retriever.nearest("ben", ["My dog."], 2) == [[]]
