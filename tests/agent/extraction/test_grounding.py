"""Candidates that the turn does not bear out are dropped, whoever extracted them."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.english.dates import resolve, time_expression
from agent.extraction.grounding import fault, ground

MESSAGE = "I don't like  football. My friend Jack\u2019s dog is called Rex."
GOOD = Candidate("I don't like football.", "I don't like football.", value="football")


def test_a_quote_in_the_turn_is_kept_whatever_its_spaces_and_apostrophes() -> None:
    assert fault(MESSAGE, GOOD) is None
    assert (
        fault(MESSAGE, Candidate("Jack's dog is called Rex", "Jack's dog is called Rex.")) is None
    )


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (replace(GOOD, quote="I like football."), "not in the message"),
        (replace(GOOD, quote=""), "not in the message"),
        (replace(GOOD, text=""), "not in the message"),
        (replace(GOOD, text="John Doe is a Google engineer."), "words of its own"),
        (replace(GOOD, value="tennis"), "value has words"),
        (replace(GOOD, text="I like football."), "negation"),
    ],
)
def test_what_the_turn_does_not_say_is_dropped(candidate: Candidate, reason: str) -> None:
    assert reason in str(fault(MESSAGE, candidate))


def test_a_question_is_no_statement() -> None:
    assert fault("Am I tall?", Candidate("Am I tall?", "I am tall.")) == "it is a question"


def test_dropping_leaves_the_others_and_logs_no_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    turn = UserTurn(7, "ann", "1", MESSAGE, datetime(2026, 1, 1, tzinfo=UTC))
    bad = replace(GOOD, text="I adore Qwertzuiop.")
    assert ground(turn, [bad, GOOD]) == [GOOD]
    assert "turn 7" in caplog.text
    assert "Qwertzuiop" not in caplog.text


def test_a_date_is_that_of_the_message_in_utc() -> None:
    said_at = datetime.fromisoformat("2023-05-23T20:00:00-07:00")
    assert resolve("yesterday", said_at) == date(2023, 5, 23)
    assert resolve("last week", said_at) == date(2023, 5, 17)


@pytest.mark.parametrize(
    ("expression", "direction", "day"),
    [
        ("on Friday", "past", date(2023, 5, 19)),
        ("on Friday", "future", date(2023, 5, 26)),
        ("tomorrow", "future", date(2023, 5, 25)),
        ("tonight", "future", date(2023, 5, 24)),
        ("3 weeks ago", "past", date(2023, 5, 3)),
        ("May 3rd, 2021", "past", date(2021, 5, 3)),
        ("in 2019", "past", None),
        ("next summer", "future", None),
    ],
)
def test_only_words_that_name_a_day_become_a_date(
    expression: str, direction: str, day: date | None
) -> None:
    found = resolve(expression, datetime(2023, 5, 24, 2, tzinfo=UTC), direction)  # type: ignore[arg-type]
    assert found == day


def test_the_words_that_say_when_are_found_verbatim() -> None:
    assert time_expression("I saw her the day before yesterday at noon") == (
        "the day before yesterday"
    )
    assert time_expression("I may go") is None
