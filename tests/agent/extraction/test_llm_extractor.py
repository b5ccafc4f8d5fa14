"""The model-based extractor: what it asks, what it believes, what it does with bad answers."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.english.subjects import USER
from agent.extraction.extraction_prompts import EXTRACTION
from agent.extraction.extraction_schema import ExtractionAnswer
from agent.extraction.grounding import ground
from agent.extraction.llm_extractor import LlmExtractor
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EngineError
from memory_engine.types import Prompt, Sampling
from tests.agent.agent_builder import opened
from tests.agent.fake_memory import FakeMemory, text_of

SAID_AT = datetime(2026, 5, 6, 7, 8, tzinfo=UTC)


def statement(quote: str, **fields: object) -> dict[str, object]:
    usual = {
        "subject": "user",
        "name": "",
        "attribute": "none",
        "value": "",
        "polarity": "affirmed",
        "kind": "stable",
        "time_expression": "",
    }
    return {"quote": quote, **usual, **fields}


def answer(*statements: dict[str, object]) -> str:
    return json.dumps({"statements": statements})


async def found(
    message: str, reply: Callable[[Prompt], str], limit: int = 10**6
) -> list[Candidate]:
    """Extract and ground with an engine that answers `reply`."""
    engine = FakeEngine(reply, max_model_len=limit)
    await engine.start()
    turn = UserTurn(1, "ann", "1", message, SAID_AT)
    return ground(turn, await LlmExtractor(FakeMemory(engine)).extract(turn))


async def asked(message: str, reply: Callable[[Prompt], str], limit: int = 10**6) -> list[str]:
    """The texts of what is found."""
    return [candidate.text for candidate in await found(message, reply, limit)]


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
    paris = statement("Home is Bern", attribute="home", value="Paris")
    assert await asked("Home is Bern these days.", lambda p: answer(paris)) == []


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


async def test_what_the_model_calls_passing_is_marked() -> None:
    """OpenViking#3683."""
    reply = answer(statement("I feel dizzy", kind="transient"))
    (fact,) = await found("I feel dizzy somehow.", lambda p: reply)
    assert (fact.text, fact.kind) == ("I feel dizzy somehow.", "transient")


async def test_the_answer_is_bound_to_the_schema_and_not_to_any_json() -> None:
    """graphiti#868, #1774, mem0#3391, #2043: prose, the schema itself or missing keys come back."""
    asked_with: list[Sampling] = []

    class Watching(FakeMemory):
        def stream(self, plan, mode, sampling: Sampling):  # type: ignore[no-untyped-def]
            asked_with.append(sampling)
            return super().stream(plan, mode, sampling)

    engine = FakeEngine(lambda p: answer(), max_model_len=10**6)
    await engine.start()
    turn = UserTurn(1, "ann", "1", "I play golf.", SAID_AT)
    await LlmExtractor(Watching(engine)).extract(turn)
    assert [s.json_schema for s in asked_with] == [ExtractionAnswer.model_json_schema()]


async def test_the_model_sees_the_message_and_nothing_that_was_recalled() -> None:
    """mem0#4573."""
    seen: list[str] = []

    def reply(prompt: Prompt) -> str:
        seen.append(text_of(prompt))
        return answer()

    engine = FakeEngine(reply, max_model_len=10**6)
    await engine.start()
    memory = FakeMemory(engine)
    turn = UserTurn(1, "ann", "1", 'I play {golf} \\ "on" Sundays. ```code```', SAID_AT)
    await LlmExtractor(memory).extract(turn)
    assert len(seen) == 1
    assert 'I play {golf} \\ "on" Sundays.' in seen[0]
    assert "code" not in seen[0]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "   ",
        "Hi",
        "Hello there!",
        "How do I cook rice?",
        "Tell me a joke.",
        "```x = 1```",
        "你喜欢猫吗？",
        "### Task:\nGenerate a title.\n<chat_history>\nUSER: I ski.\n</chat_history>",
    ],
)
async def test_nothing_to_find_means_no_question_to_the_model(message: str) -> None:
    """mem0#4099, #5465, #3635, #2344."""

    def reply(prompt: Prompt) -> str:
        raise AssertionError("the model was asked")

    assert await asked(message, reply) == []


async def test_dates_and_attributes_come_with_the_statement() -> None:
    message = "Home is Bern these days. We were in Paris last week."
    reply = answer(
        statement("Home is Bern", attribute="home", value="Bern"),
        statement("We were in Paris last week", kind="event", time_expression="last week"),
    )
    home, paris = await found(message, lambda p: reply)
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
    """mem0#4540, #3391, letta#269: bad escapes, prose, two objects; facts dropped in silence."""
    with pytest.raises(EngineError, match="not valid"):
        await asked("I play golf.", lambda p: bad)


async def test_an_answer_that_is_valid_at_the_second_try_counts() -> None:
    answers = iter(["{", answer(statement("I play golf"))])
    assert await asked("I play golf.", lambda p: next(answers)) == ["I play golf."]


async def test_an_answer_that_is_cut_off_is_asked_for_again_with_less_text() -> None:
    """vllm#8350."""

    class CuttingOff(FakeMemory):
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
    boats = await LlmExtractor(CuttingOff(engine)).extract(turn)
    assert [c.text for c in boats] == ["I own boat 0.", "I own boat 1.", "I own boat 2."]


async def test_a_long_message_is_asked_about_in_parts() -> None:
    sentences = [f"I own boat number {n} on the big lake." for n in range(100)]
    sizes: list[int] = []

    def reply(prompt: Prompt) -> str:
        text = text_of(prompt)
        sizes.append(len(text))
        return answer(*[statement(s) for s in sentences if s in text][:8])

    texts = await asked(" ".join(sentences), reply)
    assert len(sizes) > 2
    assert max(sizes) < 4000
    assert texts[0] == sentences[0]


async def test_one_part_without_an_answer_does_not_lose_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """mem0#5148, MemOS#2121: one bad item fails the whole message."""

    def reply(prompt: Prompt) -> str:
        text = text_of(prompt)
        return "{" if "boat 1." in text else answer(*map(statement, ("boat 0", "boat 2")))

    message = "Boat 0 belongs to Tom. I own boat 1. And boat 2 belongs to Eva."
    assert await asked(message, reply) == [
        "Boat 0 belongs to Tom.",
        "I own boat 1.",
        "Boat 2 belongs to Eva.",
    ]
    assert "1 sentences had no valid extraction" in caplog.text


async def test_a_part_that_does_not_fit_the_context_is_asked_about_in_smaller_ones() -> None:
    """mem0#5281: a long message exceeds a limit, and all of it is lost."""
    sentences = [f"My boat number {n} is {'very ' * 40}old." for n in range(3)]

    def reply(prompt: Prompt) -> str:
        return answer(*[statement(s) for s in sentences if s in text_of(prompt)])

    limit = 1024 + len(EXTRACTION) + 300
    assert await asked(" ".join(sentences), reply, limit) == sentences


async def test_whom_a_statement_is_about_is_named_in_the_users_words() -> None:
    """mem0#1528, QuixiAI/Hexis#61."""
    reply = answer(statement("我妹妹是护士", subject="other", name="妹妹"))
    (sister,) = await found("我妹妹是护士。", lambda p: reply)
    assert sister.subject == "妹妹"
    reply = answer(statement("Tomás es médico", subject="other", name="Pedro"))
    (nobody,) = await found("Tomás es médico.", lambda p: reply)
    assert nobody.subject == USER
    reply = answer(statement("Maxbot is helpful", subject="assistant"))
    assert await found("Maxbot is helpful to all.", lambda p: reply) == []


async def test_a_chat_in_chinese_gives_facts_in_chinese() -> None:
    """mem0#3707, #6312, #4883: a Chinese chat is stored in English."""
    message = "你好！我住在北京。上周我去了上海。你喜欢猫吗？"
    reply = answer(
        statement("我住在北京", attribute="home", value="北京"),
        statement("我去了上海", kind="event", time_expression="上周"),
        statement("I live in Beijing", attribute="home", value="Beijing"),
        statement("你喜欢猫吗"),
    )
    home, trip = await found(message, lambda p: reply)
    assert (home.text, home.attribute, home.value) == ("我住在北京。", "home", "北京")
    assert (trip.text, trip.kind, trip.when) == ("上周我去了上海。", "event", date(2026, 4, 29))


async def test_a_quote_need_not_repeat_marks_that_json_escapes() -> None:
    """letta#729: braces, quotes and backslashes in a message."""
    message = 'I own "The \\ Cat" {on} DVD.'
    reply = answer(statement("I own The Cat on DVD"))
    assert await asked(message, lambda p: reply) == [message]


async def test_a_model_that_only_babbles_leaves_a_visible_failure(database_url: str) -> None:
    async with opened(database_url, reply=lambda p: "Sure! Here is") as parts:
        parts.agent._remember_context = type(parts.agent._remember_context)(
            LlmExtractor(parts.memory), parts.agent.facts, parts.agent._memory_sync
        )
        await parts.say("I play golf.")
        assert await parts.known() == []
        assert await parts.agent.conversations.unremembered() != []
