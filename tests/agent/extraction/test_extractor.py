"""Promises of all extractors: the rules, and a model that takes everything for a statement.

Each test names the public reports whose kind it covers; the messages are made up.
"""

import asyncio
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis.strategies import text

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.english.subjects import USER
from agent.extraction.grounding import fault, ground
from tests.agent.extraction.fake_credulous_llm import EXTRACTORS, extractor_of

SAID_AT = datetime(2023, 5, 24, 12, tzinfo=UTC)

pytestmark = pytest.mark.parametrize("extractor", EXTRACTORS)


async def kept(extractor: str, message: str, said_at: datetime = SAID_AT) -> list[Candidate]:
    """Candidates that survive extraction and grounding."""
    turn = UserTurn(1, "ann", "1", message, said_at)
    return ground(turn, await (await extractor_of(extractor)).extract(turn))


async def texts(extractor: str, message: str) -> list[str]:
    return [candidate.text for candidate in await kept(extractor, message)]


RECALLED = """\
<memory>
- I live in Rome.
</memory>
What you know about me:
- My dog is called Rex.
- I am a nurse.

I play the cello."""


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        (RECALLED, ["I play the cello."]),
        ("<system>My name is Max. I am an assistant.</system>\nI play golf.", ["I play golf."]),
        ("Context: my dog is called Rex.\n\nI play golf.", ["I play golf."]),
        ("Assistant: I am Max, and I love to help.\nUser: I am Tom.", []),
        ("You said that I live in Rome.", []),
        ("You told me my dog is called Rex, remember?", []),
        ("User likes cats.", []),
        ("The user's name is Tom.", []),
        ("Your name is Max.", []),
        ("> I live in Rome.\nI play golf.", ["I play golf."]),
        ('{"memory": "I live in Rome", "score": 0.9}', []),
    ],
)
async def test_what_was_recalled_or_said_by_others_is_never_extracted_again(
    extractor: str, message: str, facts: list[str]
) -> None:
    """mem0#4573: one recalled fact is stored 668 times, and the system prompt thousands."""
    assert await texts(extractor, message) == facts


@pytest.mark.parametrize(
    "message", ["", "   ", "\n\n", "Hi", "Hello!", "\U0001f44d", "```x = 1```"]
)
async def test_an_empty_message_yields_nothing(extractor: str, message: str) -> None:
    """mem0#4099, #5465, #5545."""
    assert await texts(extractor, message) == []


@pytest.mark.parametrize(
    "message",
    [
        "How to cook rice?",
        "How to cook rice",
        "What is the capital of France",
        "Do you think I live in Bern?",
        "Tell me about my dog.",
        "Please write a poem about my dog Biscuit.",
        "Remember to buy milk",
        "\u6211\u4f4f\u5728\u54ea\u91cc\uff1f",
    ],
)
async def test_a_question_or_request_yields_an_empty_result(extractor: str, message: str) -> None:
    """mem0#3635, #2344."""
    assert await texts(extractor, message) == []


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("my friend Jack doesn't like football, his father enrolled him", "jack"),
        ("My sister is a nurse.", "sister"),
        ("My older brother, Tom Miller, lives in Oslo.", "tom miller"),
        ("My dog is called Rex.", "dog"),
        ("The name of my dog is Rex.", "dog"),
        ("Our neighbours are from Peru.", "neighbours"),
        ("Anna's birthday is 3 June.", "anna"),
        ("Rex is my dog.", "rex"),
        ("My wife and I live in Bern.", USER),
        ("My wife is called Eva.", USER),
        ("My favourite colour is blue.", USER),
        ("I have a sister.", USER),
        ("Golf is my favourite sport.", USER),
    ],
)
async def test_a_fact_about_somebody_else_stays_about_them(
    extractor: str, message: str, subject: str
) -> None:
    """mem0#1528, QuixiAI/Hexis#61: other people's facts become the user's."""
    (fact,) = await kept(extractor, message)
    assert fact.subject == subject
    assert fact.attribute is None or subject in (USER, "anna", "dog")


@pytest.mark.parametrize(
    "message",
    [
        "I hate cilantro.",
        "I can not stand loud music.",
        "I can't stand loud music.",
        "My sister does not dislike cats.",
        "I don't have a car.",
        "I have never been to Peru.",
        "I do not eat meat any more.",
    ],
)
async def test_a_negation_is_kept(extractor: str, message: str) -> None:
    """odysseus#2429, memanto#1820, remnic#1421."""
    assert await texts(extractor, message) == [message]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("I'm on the train right now.", "transient"),
        ("I'm in a meeting.", "transient"),
        ("I'm so tired today.", "transient"),
        ("I am waiting for the bus.", "transient"),
        ("I'm writing a report.", "transient"),
        ("I live in Bern.", "stable"),
        ("I went to Paris last week.", "event"),
        ("I'm flying to Rome tomorrow.", "plan"),
    ],
)
async def test_a_passing_state_is_marked_as_such(extractor: str, message: str, kind: str) -> None:
    """OpenViking#3683: half of a profile is dated task status."""
    (fact,) = await kept(extractor, message)
    assert fact.kind == kind


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("I live in Bern. I really live in Bern! I live in Bern, Switzerland.", 1),
        ("I'm a nurse. I am a nurse. I am also a nurse.", 1),
        ("I like tea. I don't like tea.", 2),
        ("I smoke. I never smoke.", 2),
        ("I have a dog. I had a dog.", 2),
        ("My sister is a nurse. My brother is a nurse.", 2),
    ],
)
async def test_near_duplicates_in_one_message_are_one_fact(
    extractor: str, message: str, facts: int
) -> None:
    """hindsight#1730: one call yields nine near-duplicates."""
    assert len(await kept(extractor, message)) == facts


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        (
            "My project is called `foo`. Why does `{'a': \"I am Tom.\"}` fail?",
            ["My project is called `foo`."],
        ),
        ("I write C++.\n```cpp\nint main() { return 0; } // I am Tom.\n```", ["I write C++."]),
        ('I own "The \\ {Cat}" on DVD.', ['I own "The \\ {Cat}" on DVD.']),
        ("~~~\nI am Tom.\n~~~\nI play golf.", ["I play golf."]),
        ('He said "I am Tom. I like cats." to me.', []),
    ],
)
async def test_code_braces_quotes_and_fences_break_nothing_and_are_no_statements(
    extractor: str, message: str, facts: list[str]
) -> None:
    """letta#729, letta#269."""
    found = await texts(extractor, message)
    assert [f for f in found if not f.startswith("He said")] == facts


@pytest.mark.parametrize(
    ("said_at", "message", "day"),
    [
        (SAID_AT, "I went to Paris last week.", date(2023, 5, 17)),
        (SAID_AT, "Yesterday I visited my aunt.", date(2023, 5, 23)),
        (SAID_AT, "I bought a boat three days ago.", date(2023, 5, 21)),
        (SAID_AT, "I moved to Oslo in 2019.", None),
        (datetime(2023, 1, 1, 2, tzinfo=UTC), "I went to Paris yesterday.", date(2022, 12, 31)),
        (datetime(2024, 2, 29, tzinfo=UTC), "I'm flying to Rome tomorrow.", date(2024, 3, 1)),
        (SAID_AT, "Today I went to the zoo.", date(2023, 5, 24)),
    ],
)
async def test_a_date_is_resolved_against_the_time_of_the_message(
    extractor: str, said_at: datetime, message: str, day: date | None
) -> None:
    """mem0#4963, #5894, #5222, #5226: old messages are dated by the clock of the server."""
    (fact,) = await kept(extractor, message, said_at)
    assert fact.when == day
    assert fact.time_expression
    assert fact.time_expression in message


async def test_a_day_is_a_day_where_the_user_is(extractor: str) -> None:
    """mem0#4402, #3137, #4463: 02:00 UTC becomes the day before, or does not."""
    said_at = datetime(2023, 5, 24, 2, tzinfo=UTC)
    turn = UserTurn(1, "ann", "1", "I went to Paris yesterday.", said_at)
    candidates = await (await extractor_of(extractor)).extract(turn)
    days = [
        ground(turn, candidates, zone)[0].when
        for zone in (UTC, ZoneInfo("America/Los_Angeles"), ZoneInfo("Asia/Tokyo"))
    ]
    assert days == [date(2023, 5, 23), date(2023, 5, 22), date(2023, 5, 23)]


@pytest.mark.parametrize(
    "message",
    [
        "My dog is called Rex \U0001f436.",
        "My family is \U0001f468\u200d\U0001f469\u200d\U0001f467.",
        "I live in Bern \U0001f1e8\U0001f1ed.",
    ],
)
async def test_emoji_joined_ones_and_flags_stay(extractor: str, message: str) -> None:
    """hindsight#4, MemOS#1048, simonw/llm#546."""
    (fact,) = await texts(extractor, message)
    assert fact == message
    assert fact.encode()


async def test_a_long_message_is_read_to_its_end(extractor: str) -> None:
    """mem0#5148, #5281, #5386, MemOS#2121, MemMachine#1298."""
    chatter = "What a day it was for all of them. " * 400
    found = await texts(extractor, f"I live in Bern. {chatter}My dog is called Rex.")
    assert (found[0], found[-1]) == ("I live in Bern.", "My dog is called Rex.")


async def test_a_long_sentence_loses_nothing_and_makes_no_endless_fact(extractor: str) -> None:
    """MemMachine#1298."""
    places = ", ".join(f"I own boat number {n}" for n in range(30))
    found = await texts(extractor, f"{places}.")
    assert all(len(fact) <= 401 for fact in found)
    assert all(any(f"number {n}" in fact for fact in found) for n in range(30))


@pytest.mark.parametrize("name", ["[your name]", "<name>", "{{user}}", "(user 1's name)"])
async def test_a_template_that_was_not_filled_in_is_no_fact(extractor: str, name: str) -> None:
    """vectorize-io/hindsight#4280, nowledge-mem#24."""
    assert await texts(extractor, f"My name is {name}.") == []


@pytest.mark.parametrize(
    "message",
    [
        "If I live in Bern, I vote there.",
        "Suppose I have a cat.",
        "Maybe I have a cat.",
        "Let's pretend. I am a wizard.",
        "Please translate this: I live in Rome. I love pasta.",
    ],
)
async def test_what_is_supposed_or_to_be_worked_on_states_nothing(
    extractor: str, message: str
) -> None:
    """mem0#4573: invented profiles."""
    assert await texts(extractor, message) == []


@given(message=text(max_size=200))
@settings(max_examples=40, deadline=None)
def test_no_message_breaks_the_extractor_and_no_fact_is_made_up(
    extractor: str, message: str
) -> None:
    """mem0#4573."""
    for candidate in asyncio.run(kept(extractor, message)):
        assert fault(message, candidate) is None
        assert " ".join(candidate.quote.split()) in " ".join(message.split())
