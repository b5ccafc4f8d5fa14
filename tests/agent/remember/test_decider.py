"""A model decides about what is near, and is believed only as far as that can be right."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from agent.agent import Agent
from agent.entities import Fact
from agent.extraction.candidate import Candidate, Change, Operation
from agent.remember.decider import NEAREST, Question, apply_decisions
from agent.remember.llm_decider import LlmDecider
from memory_engine.engines.fake import FakeEngine
from memory_engine.types import Chunk, Mode, Plan, Prompt, Sampling
from tests.agent.agent_builder import opened
from tests.agent.fake_memory import FakeMemory, text_of

NOW = datetime(2026, 5, 6, tzinfo=UTC)


def fact(number: int, text: str, subject: str = "") -> Fact:
    return Fact(str(number), text, None, NOW, subject=subject)


def add(text: str) -> Change:
    return Change(Candidate(text, text))


class Says:
    """A decider that answers the same, whatever it is asked."""

    def __init__(self, operation: Operation, fact_id: str) -> None:
        self.answer = (operation, fact_id)
        self.asked: list[Question] = []

    async def decide(
        self, owner: str, questions: Sequence[Question]
    ) -> Mapping[int, tuple[Operation, str]]:
        self.asked += questions
        return dict.fromkeys(range(len(questions)), self.answer)


async def ask(known: Sequence[Fact], text: str, operation: Operation, target: str = "1") -> Change:
    async def near(owner: str, texts: Sequence[str], count: int) -> list[list[tuple[str, float]]]:
        return [[(each.id, 0.9) for each in known] for _ in texts]

    (change,) = await apply_decisions("ann", [add(text)], known, near, Says(operation, target))
    return change


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I am vegetarian.", "I had a steak for lunch and loved it."),
        ("I have pasta for lunch.", "I have salad for lunch."),
        ("I love Chinese food.", "I hate Chinese food."),
    ],
)
async def test_what_is_out_of_date_is_superseded(known: str, new: str) -> None:
    change = await ask([fact(1, known)], new, "supersede")
    assert (change.operation, change.targets) == ("supersede", ("1",))


@pytest.mark.parametrize("operation", ["repeat", "update", "supersede", "retract"])
async def test_a_decision_cannot_merge_what_has_other_numbers(operation: Operation) -> None:
    new = "I rent flat 21."
    assert await ask([fact(1, "I rent flat 12.")], new, operation) == add(new)


async def test_a_decision_about_another_person_is_ignored() -> None:
    new = "I am a vegetarian."
    assert await ask([fact(1, "Is a vegetarian.", "jack")], new, "repeat") == add(new)


async def test_a_fact_that_was_not_shown_is_ignored_with_a_word_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    known = [fact(n, f"I like thing{n}.") for n in range(1, NEAREST + 3)]
    with caplog.at_level(logging.WARNING):
        for wrong in ("12", "none", str(NEAREST + 2)):
            assert await ask(known, "I like tea.", "repeat", wrong) == add("I like tea.")
    assert caplog.text.count("a decision was ignored") == 3
    assert "tea" not in caplog.text


async def test_nobody_is_asked_when_nothing_is_near() -> None:
    async def far(owner: str, texts: Sequence[str], count: int) -> list[list[tuple[str, float]]]:
        return [[("1", 0.1)] for _ in texts]

    judge = Says("repeat", "1")
    changes = [add("I like tea.")]
    assert await apply_decisions("ann", changes, [fact(1, "I ski.")], far, judge) == changes
    assert await apply_decisions("ann", changes, [], far, judge) == changes
    assert judge.asked == []


class Scripted(FakeMemory):
    """A memory whose model gives these answers, one after the other."""

    def __init__(self, *answers: str) -> None:
        super().__init__(FakeEngine())
        self.answers = list(answers)
        self.prompts: list[str] = []
        self.samplings: list[Sampling] = []

    def plan(self, owner: str, *rest: Any, **more: Any) -> Plan:
        self.prompts.append(rest[2])
        return Plan(Prompt(owner, []))

    async def stream(self, plan: Plan, mode: Mode, sampling: Sampling) -> Any:
        self.samplings.append(sampling)
        yield Chunk(self.answers.pop(0))


def decisions(*triples: tuple[str, str, str]) -> str:
    names = ("statement", "operation", "fact")
    return json.dumps({"decisions": [dict(zip(names, t, strict=True)) for t in triples]})


QUESTIONS = [
    Question("I had a steak.", (fact(7, "I am vegetarian."), fact(31, 'I said {"a": "\\b"}```'))),
    Question("I ski a lot.", (fact(7, "I am vegetarian."),)),
]


async def test_the_schema_admits_only_what_is_shown_and_bounds_the_answer() -> None:
    memory = Scripted(decisions(("s1", "supersede", "f1")))
    assert await LlmDecider(memory).decide("ann", QUESTIONS) == {0: ("supersede", "7")}
    schema: Any = memory.samplings[0].json_schema
    array = schema["properties"]["decisions"]
    assert array["maxItems"] == 2
    assert array["items"]["properties"]["fact"]["enum"] == ["f1", "f2", "none"]
    assert array["items"]["properties"]["statement"]["enum"] == ["s1", "s2"]
    assert array["items"]["required"] == ["statement", "operation", "fact"]
    assert 'f2: I said {"a": "\\b"}```' in memory.prompts[0]


@pytest.mark.parametrize(
    "triple", [("s1", "repeat", "f9"), ("s7", "repeat", "f1"), ("s1", "repeat", "none")]
)
async def test_labels_that_were_not_shown_are_ignored_with_a_word_in_the_log(
    triple: tuple[str, str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """mem0#3931, #4437, #4674, #4708, A-mem#11: an id that does not exist; the update is lost."""
    memory = Scripted(decisions(triple, ("s2", "retract", "f1")))
    assert await LlmDecider(memory).decide("ann", QUESTIONS) == {1: ("retract", "7")}
    assert "names what was not shown" in caplog.text


async def test_of_two_answers_about_one_statement_the_first_counts() -> None:
    memory = Scripted(decisions(("s1", "repeat", "f1"), ("s1", "retract", "f2")))
    assert await LlmDecider(memory).decide("ann", QUESTIONS) == {0: ("repeat", "7")}


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "Sure! Here is the JSON:",
        '{"decisions": [',
        '{"decisions": [{"statement": "s1", "fact": "f1"}]}',
        '{"decisions": []} {"decisions": []}',
        '{"decisions": "\\u12"}',
        '{"$defs": {}, "type": "object"}',
    ],
)
async def test_an_invalid_answer_is_asked_for_again_and_then_loses_nothing(nonsense: str) -> None:
    memory = Scripted(nonsense, decisions(("s1", "repeat", "f1")))
    assert await LlmDecider(memory).decide("ann", QUESTIONS) == {0: ("repeat", "7")}
    assert [s.temperature for s in memory.samplings] == [0.0, 0.5]
    memory = Scripted(nonsense, nonsense)
    assert await LlmDecider(memory).decide("ann", QUESTIONS) == {}


async def test_a_vegetarian_who_eats_steak_is_no_longer_recalled_as_one(database_url: str) -> None:
    """mem0#5576."""

    def reply(prompt: Prompt) -> str:
        text = text_of(prompt)
        if "Between the first two lines of dashes" in text and "vegetarian food" in text:
            return decisions(("s1", "supersede", "f1"))
        return "All right."

    async with opened(database_url, reply=reply, decider=LlmDecider) as parts:
        await parts.service.add_fact("ann", "My usual order is vegetarian food.")
        await parts.say("My usual order is steak.")
        assert await parts.known() == ["My usual order is steak."]
        asked = await parts.ask("What is my usual order?")
        assert [f.text for f in asked.facts] == ["My usual order is steak."]
        assert not any("vegetarian" in s for s in parts.engine.resident("ann"))
        events = await parts.service.history("ann")
    assert [(e.kind, e.text) for e in events][1] == (
        "superseded",
        "My usual order is vegetarian food.",
    )


async def test_facts_forgotten_while_the_model_decides_are_not_touched(database_url: str) -> None:
    class Slow(Says):
        agent: Agent

        async def decide(
            self, owner: str, questions: Sequence[Question]
        ) -> Mapping[int, tuple[Operation, str]]:
            if not self.asked:
                await self.agent.fact_manager.forget(owner, ["1"])
                await asyncio.sleep(0)
            return await super().decide(owner, questions)

    judge = Slow("supersede", "1")

    async with opened(database_url, decider=lambda memory: judge) as parts:
        judge.agent = parts.agent
        await parts.service.add_fact("ann", "My usual order is pasta.")
        await parts.say("My usual order is salad.")
        assert await parts.known() == ["My usual order is salad."]
        kinds = [e.kind for e in await parts.service.history("ann")]
    assert kinds == ["added", "forgotten", "added"]
