"""The times that questions name."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from agent.extraction.english.periods import periods
from memory_engine.types import Period

# A Wednesday.
NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)


def period(text: str) -> Period:
    start, _, end = text.partition(" ")
    return Period(date.fromisoformat(start), date.fromisoformat(end or start))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did I eat yesterday?", "2026-11-17"),
        ("What am I doing tomorrow?", "2026-11-19"),
        ("Where was I on 3 June, 2025?", "2025-06-03"),
        ("Where was I on June 3rd?", "2026-06-03"),
        ("What did I plan on 2026-02-28?", "2026-02-28"),
        ("Whom did I meet last Friday?", "2026-11-13"),
        ("What happened last week?", "2026-11-09 2026-11-15"),
        ("What happened last weekend?", "2026-11-14 2026-11-15"),
        ("What happens next weekend?", "2026-11-28 2026-11-29"),
        ("Where did I go in May?", "2026-05-01 2026-05-31"),
        ("Where did I go in December?", "2025-12-01 2025-12-31"),
        ("Where did I go in february 2024?", "2024-02-01 2024-02-29"),
        ("What did I do two months ago?", "2026-09-01 2026-09-30"),
        ("What did I do a few weeks ago?", "2026-10-26 2026-11-01"),
        ("What did I do last year?", "2025-01-01 2025-12-31"),
        ("What will I do next month?", "2026-12-01 2026-12-31"),
        ("Where did I live in 2019?", "2019-01-01 2019-12-31"),
        ("Where was I last summer?", "2026-06-01 2026-08-31"),
        ("Where was I in the winter of 2023?", "2023-12-01 2024-02-29"),
        ("Where do I go next spring?", "2027-03-01 2027-05-31"),
        ("What has changed since September?", "2026-09-01 2026-11-18"),
    ],
)
def test_a_question_names_a_period(question: str, expected: str) -> None:
    assert periods(question, NOW) == (period(expected),)


def test_a_question_may_name_several_periods_each_once() -> None:
    found = periods("Did I run more in May 2024 than in 2022, or in May 2024 alone?", NOW)
    assert found == (period("2024-05-01 2024-05-31"), period("2022-01-01 2022-12-31"))


@pytest.mark.parametrize(
    "question",
    ["", "May I ask you something?", "Did we march along?", "What is my dog's name?",
     "Do I own 20191 stamps?", "Was macht mein Hund?", "in " * 1000],
)  # fmt: skip
def test_a_question_without_a_time_names_none(question: str) -> None:
    assert periods(question, NOW) == ()


def test_days_are_days_of_utc_when_the_question_is_asked() -> None:
    late = datetime.fromisoformat("2026-11-18T23:30:00-05:00")
    assert periods("What did I do yesterday?", late) == (period("2026-11-18"),)


def test_yesterday_is_the_day_before_where_the_user_is() -> None:
    asked_at = datetime(2026, 5, 4, 23, 30, tzinfo=UTC)
    question = "What did I do yesterday?"
    assert periods(question, asked_at) == (Period(date(2026, 5, 3), date(2026, 5, 3)),)
    in_tokyo = periods(question, asked_at, ZoneInfo("Asia/Tokyo"))
    assert in_tokyo == (Period(date(2026, 5, 4), date(2026, 5, 4)),)
