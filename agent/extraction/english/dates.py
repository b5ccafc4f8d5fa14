"""Dates of facts: time expressions, resolved against the instant at which they were said."""

from datetime import UTC, date, datetime, tzinfo
from typing import Literal

from dateparser.date import DateDataParser

from agent.extraction.english.time_grammar import COARSE_IN_FACT, DAY, TODAY

OTHER_LANGUAGES = ["de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "zh", "ja", "ko"]


def time_expression(text: str) -> str | None:
    """The first time expression in `text`, verbatim, or None."""
    found = DAY.search(text) or COARSE_IN_FACT.search(text)
    return found.group() if found else None


def resolve(
    expression: str,
    said_at: datetime,
    direction: Literal["past", "future"] = "past",
    zone: tzinfo = UTC,
) -> date | None:
    """The day (or a day of the week) that `expression` means, said at `said_at`.

    `said_at` is an instant; days are days in `zone`. None where the words name no day, such
    as "in 2019". `direction` decides what is open, such as which Friday.
    """
    english = DAY.fullmatch(expression) is not None
    if not english and (COARSE_IN_FACT.search(expression) or not expression.strip()):
        return None
    parser = DateDataParser(
        languages=["en"] if english else OTHER_LANGUAGES,
        settings={
            "RELATIVE_BASE": said_at.astimezone(zone).replace(tzinfo=None),
            "PREFER_DATES_FROM": direction,
        },
    )
    found = parser.get_date_data("today" if TODAY.fullmatch(expression) else expression)
    is_a_day = found.date_obj is not None and found.period in ("day", "week", "time")
    return found.date_obj.date() if is_a_day else None
