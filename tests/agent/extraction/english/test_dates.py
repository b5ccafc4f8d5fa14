"""Days are resolved against the time something was said, where it was said."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from agent.extraction.english.dates import resolve, time_expression

WEDNESDAY = datetime(2023, 5, 24, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "day"),
    [
        ("\u6628\u5929", date(2023, 5, 23)),
        ("\u4e0a\u5468", date(2023, 5, 17)),
        ("3\u5929\u524d", date(2023, 5, 21)),
        ("gestern", date(2023, 5, 23)),
        ("letzte Woche", date(2023, 5, 17)),
        ("hier", date(2023, 5, 23)),
        ("ayer", date(2023, 5, 23)),
        ("\u53bb\u5e74", None),
        ("letzten Monat", None),
        ("last month", None),
        ("", None),
        ("qwertz", None),
    ],
)
def test_words_of_other_languages_that_name_a_day_become_a_date(
    expression: str, day: date | None
) -> None:
    assert resolve(expression, WEDNESDAY) == day


def test_the_same_instant_is_another_day_elsewhere() -> None:
    """mem0#4402, #3137."""
    said_at = datetime(2023, 5, 24, 2, tzinfo=UTC)
    assert resolve("today", said_at) == date(2023, 5, 24)
    assert resolve("today", said_at, zone=ZoneInfo("America/Los_Angeles")) == date(2023, 5, 23)
    elsewhere = said_at.astimezone(ZoneInfo("Asia/Tokyo"))
    assert resolve("today", elsewhere) == date(2023, 5, 24)


@pytest.mark.parametrize("expression", ["this morning", "tonight", "earlier this evening"])
def test_a_part_of_today_is_today(expression: str) -> None:
    assert resolve(expression, WEDNESDAY) == date(2023, 5, 24)
    assert time_expression(f"I ran {expression}.") == expression
