"""The sample person: known at once, and gone again without a trace."""

import pytest

from app.sample_person import SampleQuestion, load_sample, remove_sample, sample_person
from memory_engine.errors import UserError
from tests.agent.agent_builder import opened


def test_the_sample_person_has_fifty_dated_facts_in_time_order_and_twenty_questions() -> None:
    person = sample_person()
    assert len(person.facts) == 50
    dates = [when for _, when in person.facts if when is not None]
    assert len(dates) == 50
    assert dates == sorted(dates)
    assert len(person.questions) == 20


def test_every_answer_is_in_a_fact_and_in_no_question() -> None:
    person = sample_person()
    for question in person.questions:
        assert any(question.answered_by(text) for text, _ in person.facts), question
        assert not question.answered_by(question.question)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("It is Biscuit.", True),
        ("BISCUIT", True),
        ("Two biscuits", True),
        ("Biscuity", False),
        ("A seabiscuit", False),
        ("", False),
    ],
)
def test_a_right_answer_has_the_whole_word_in_any_case(text: str, right: bool) -> None:
    assert SampleQuestion("Name?", "Biscuit").answered_by(text) is right


async def test_the_sample_is_taught_dated_and_taken_out_and_leaves_ones_own(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        person = await load_sample(parts.service, "ann")
        facts = await parts.service.facts("ann")
        assert {(f.text, f.when) for f in facts} == set(sample_person().facts)
        assert len(parts.memory.held["ann"]) == len(person.facts)
        await parts.say("My boat is called Zanzibar.")
        assert await remove_sample(parts.service, "ann") == len(person.facts)
        assert await parts.known() == ["My boat is called Zanzibar."]
        assert len(await parts.service.conversations("ann")) == 1
        assert await remove_sample(parts.service, "ann") == 0


async def test_the_sample_does_not_mix_with_what_is_known(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        with pytest.raises(UserError, match="known about you already"):
            await load_sample(parts.service, "ann")
        assert await parts.known() == ["I live in Bern."]
