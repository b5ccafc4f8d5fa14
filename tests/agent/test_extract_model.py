"""The model-based extractor: what it asks, what it believes, what it does with bad answers."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from agent.extract_model import ModelExtractor
from agent.extracted import Extracted
from agent.ground import ground
from agent.records import UserTurn
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EngineError
from memory_engine.types import Prompt, Sampling
from tests.agent.parts import opened, url_of
from tests.agent.stand_in import StandInMemory, text_of

SAID_AT = datetime(2026, 5, 6, 7, 8, tzinfo=UTC)


def statement(quote: str, **fields: object) -> dict[str, object]:
    usual = {"attribute": "none", "value": "", "holds": True, "kind": "lasting", "when": ""}
    return {"quote": quote, **usual, **fields}


def answer(*statements: dict[str, object]) -> str:
    return json.dumps({"statements": statements})


async def asked(message: str, reply: Callable[[Prompt], str], limit: int = 10**6) -> list[str]:
    """Extract and ground with an engine that answers `reply`; the texts that are left."""
    engine = FakeEngine(reply, max_model_len=limit)
    await engine.start()
    turn = UserTurn(1, "ann", "1", message, SAID_AT)
    found = ground(turn, await ModelExtractor(StandInMemory(engine)).extract(turn))
    return [candidate.text for candidate in found]


async def test_the_fact_is_the_whole_sentence_around_the_quote() -> None:
    message = "Hi! Well, I don't like football. What else?"
    assert await asked(message, lambda p: answer(statement("like football"))) == [
        "I don't like football."
    ]


@pytest.mark.parametrize(
    "quote",
    [
        "I am John Doe, a Google engineer",
        "football",
        "",
        "the words of the user that state it, copied exactly",
    ],
)
async def test_what_the_user_did_not_say_is_not_believed(quote: str) -> None:
    assert await asked("I play football.", lambda p: answer(statement(quote))) == []


async def test_a_value_that_the_user_did_not_say_is_not_believed() -> None:
    found = statement("Home is Bern", attribute="home", value="Paris")
    assert await asked("Home is Bern these days.", lambda p: answer(found)) == []


@pytest.mark.parametrize(
    "message",
    [
        "My password is hunter2.",
        "Is my cat called Mia?",
        "Maybe my cat is called Mia.",
        "From now on you must call my cat Mia.",
        "Please translate this: My cat is called Mia.",
        "> My cat is called Mia.",
    ],
)
async def test_what_may_not_be_remembered_is_not_whatever_the_model_says(message: str) -> None:
    quotes = ("My cat is called Mia", "my cat is called Mia", "call my cat Mia", "My password is")
    assert await asked(message, lambda p: answer(*map(statement, quotes))) == []


async def test_passing_states_are_not_kept() -> None:
    reply = answer(statement("I am tired", kind="passing"))
    assert await asked("I am tired of this.", lambda p: reply) == []


async def test_the_model_sees_the_message_and_nothing_that_was_recalled() -> None:
    seen: list[str] = []

    def reply(prompt: Prompt) -> str:
        seen.append(text_of(prompt))
        return answer()

    engine = FakeEngine(reply, max_model_len=10**6)
    await engine.start()
    memory = StandInMemory(engine)
    turn = UserTurn(1, "ann", "1", 'I play {golf} \\ "on" Sundays. ```code```', SAID_AT)
    await ModelExtractor(memory).extract(turn)
    assert len(seen) == 1
    assert 'I play {golf} \\ "on" Sundays.' in seen[0]
    assert "code" not in seen[0]


@pytest.mark.parametrize("message", ["", "   ", "Hi", "How do I cook rice?", "```x = 1```"])
async def test_nothing_to_find_means_no_question_to_the_model(message: str) -> None:
    def reply(prompt: Prompt) -> str:
        raise AssertionError("the model was asked")

    assert await asked(message, reply) == []


async def test_dates_and_attributes_come_with_the_statement() -> None:
    message = "Home is Bern these days. We were in Paris last week."
    reply = answer(
        statement("Home is Bern", attribute="home", value="Bern"),
        statement("We were in Paris last week", kind="event", when="last week"),
    )
    engine = FakeEngine(lambda p: reply, max_model_len=10**6)
    await engine.start()
    turn = UserTurn(1, "ann", "1", message, SAID_AT)
    home, paris = ground(turn, await ModelExtractor(StandInMemory(engine)).extract(turn))
    assert (home.attribute, home.value, home.denied) == ("home", "Bern", False)
    assert (paris.kind, paris.when, paris.time_expression) == (
        "event",
        date(2026, 4, 29),
        "last week",
    )


@pytest.mark.parametrize(
    "bad", ["", "{", "[]", '{"statements": [{}]}', '{"a": "\\ud800"}', "{} {}"]
)
async def test_an_answer_that_is_not_valid_is_a_failure_and_no_empty_result(bad: str) -> None:
    with pytest.raises(EngineError, match="not valid"):
        await asked("I play golf.", lambda p: bad)


async def test_an_answer_that_is_valid_at_the_second_try_counts() -> None:
    answers = iter(["{", answer(statement("I play golf"))])
    assert await asked("I play golf.", lambda p: next(answers)) == ["I play golf."]


async def test_an_answer_that_is_cut_off_is_asked_for_again_with_less_text() -> None:
    class CuttingOff(StandInMemory):
        async def stream(self, plan, mode, sampling: Sampling):  # type: ignore[no-untyped-def]
            async for chunk in super().stream(plan, mode, sampling):
                if chunk.finish_reason and text_of(plan.prompt).count("I own") > 1:
                    yield type(chunk)("", usage=chunk.usage, finish_reason="length")
                else:
                    yield chunk

    def reply(prompt: Prompt) -> str:
        return answer(*(statement(f"I own boat {n}") for n in range(3)))

    engine = FakeEngine(reply, max_model_len=10**6)
    await engine.start()
    turn = UserTurn(1, "ann", "1", "I own boat 0. I own boat 1. I own boat 2.", SAID_AT)
    found = await ModelExtractor(CuttingOff(engine)).extract(turn)
    assert [c.text for c in found] == ["I own boat 0.", "I own boat 1.", "I own boat 2."]


async def test_a_long_message_is_asked_about_in_parts() -> None:
    sentences = [f"I own boat number {n} on the big lake." for n in range(100)]
    sizes: list[int] = []

    def reply(prompt: Prompt) -> str:
        text = text_of(prompt)
        sizes.append(len(text))
        return answer(*[statement(s) for s in sentences if s in text][:8])

    found = await asked(" ".join(sentences), reply)
    assert len(sizes) > 2
    assert max(sizes) < 3000
    assert found[0] == sentences[0]


def test_the_schema_bounds_the_answer() -> None:
    schema = Extracted.model_json_schema()
    assert schema["properties"]["statements"]["maxItems"] == 8
    fields = schema["$defs"]["Statement"]["properties"]
    assert next(iter(fields)) == "quote"
    assert all(
        f.get("maxLength") or f.get("enum") or f["type"] == "boolean" for f in fields.values()
    )
    assert schema["$defs"]["Statement"]["required"] == list(fields)


async def test_a_model_that_only_babbles_leaves_a_visible_failure(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path), reply=lambda p: "Sure! Here is") as parts:
        parts.agent._remember_context = type(parts.agent._remember_context)(
            ModelExtractor(parts.memory), parts.agent.facts, parts.agent._holding
        )
        await parts.say("I play golf.")
        assert await parts.known() == []
        assert await parts.agent.transcript.unremembered() != []
