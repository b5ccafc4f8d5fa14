"""An answer by a schema: asked twice at most, and None rather than something made up."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from agent.extraction.schema_request import ask_with_schema
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EngineError
from memory_engine.types import Prompt, Sampling
from tests.agent.fake_memory import FakeMemory


class Number(BaseModel):
    number: int


class RecordingMemory(FakeMemory):
    """A memory that records what is asked with, and may cut every answer off."""

    def __init__(self, engine: FakeEngine, *, cut_off: bool = False) -> None:
        super().__init__(engine)
        self.samplings: list[Sampling] = []
        self.cut_off = cut_off

    async def stream(self, plan: Any, mode: Any, sampling: Sampling) -> Any:
        self.samplings.append(sampling)
        async for chunk in super().stream(plan, mode, sampling):
            last = chunk.finish_reason and self.cut_off
            yield type(chunk)(chunk.text, finish_reason="length") if last else chunk


async def memory_of(reply: Callable[[Prompt], str], **options: Any) -> RecordingMemory:
    engine = FakeEngine(reply, max_model_len=options.pop("limit", 10_000))
    await engine.start()
    return RecordingMemory(engine, **options)


async def ask(memory: RecordingMemory, **options: Any) -> int | None:
    answer = await ask_with_schema(memory, "ann", "How many?", Number, max_tokens=50, **options)
    return None if answer is None else answer.number


async def test_a_valid_answer_is_taken_at_once() -> None:
    memory = await memory_of(lambda p: '{"number": 3}')
    assert await ask(memory) == 3
    (sampling,) = memory.samplings
    assert (sampling.max_tokens, sampling.temperature) == (50, 0.0)
    assert sampling.json_schema == Number.model_json_schema()


async def test_another_schema_binds_the_answer_where_it_is_given() -> None:
    memory = await memory_of(lambda p: '{"number": 3}')
    await ask(memory, schema={"type": "object"})
    assert memory.samplings[0].json_schema == {"type": "object"}


async def test_an_answer_that_is_not_valid_is_asked_for_once_more_and_not_quoted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = iter(["zanzibar", '{"number": 3}'])
    memory = await memory_of(lambda p: next(answers))
    with caplog.at_level(logging.WARNING):
        assert await ask(memory) == 3
    assert [s.temperature for s in memory.samplings] == [0.0, 0.5]
    assert "a Number was not valid" in caplog.text
    assert "zanzibar" not in caplog.text
    memory = await memory_of(lambda p: "{")
    assert await ask(memory) is None
    assert len(memory.samplings) == 2


@pytest.mark.parametrize(("again", "asked"), [(True, 2), (False, 1)])
async def test_a_cut_off_answer_is_asked_for_again_only_where_that_helps(
    again: bool, asked: int
) -> None:
    memory = await memory_of(lambda p: '{"number": ', cut_off=True)
    assert await ask(memory, retry_cut_off=again) is None
    assert len(memory.samplings) == asked


async def test_a_prompt_that_does_not_fit_is_not_asked() -> None:
    memory = await memory_of(lambda p: '{"number": 3}', limit=20)
    assert await ask(memory) is None
    assert memory.samplings == []


async def test_an_engine_that_fails_is_no_answer_of_none() -> None:
    def fail(prompt: Prompt) -> str:
        raise EngineError("no")

    with pytest.raises(EngineError):
        await ask(await memory_of(fail))
