"""Periods named by a question, so that facts of those times are recalled first."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, tzinfo

from dateparser.date import DateDataParser

from agent.extraction.english.time_grammar import (
    COARSE_IN_QUESTION,
    DAY,
    SEASON,
    SEASONS,
    YEAR,
)
from memory_engine.types import Period

LEAD = re.compile(r"(?:in|since|during|by|of|on|early|late|this|last)\s+(?:the\s+)?", re.IGNORECASE)
FUTURE = re.compile(
    r"next\b|in\s+\w+\s+(?:day|week|month|year)|tomorrow|after\s+tom", re.IGNORECASE
)
VAGUE = ((r"a\s+few", "3"), (r"a\s+couple\s+of", "2"))
SATURDAY = 5


def periods(text: str, asked_at: datetime, zone: tzinfo = UTC) -> tuple[Period, ...]:
    """The periods that `text` names, asked at the instant `asked_at`; days are those of `zone`.

    It reads English: a question in another language names none.
    """
    now = asked_at.astimezone(zone)
    days = [match.group() for match in DAY.finditer(text)]
    rest = DAY.sub(" | ", text)
    named = [*days, *(match.group() for match in COARSE_IN_QUESTION.finditer(rest))]
    found = (_period(words, now) for words in dict.fromkeys(named))
    return tuple(period for period in found if period is not None)


def _period(words: str, now: datetime) -> Period | None:
    lowered = " ".join(words.lower().split())
    if lowered.endswith("weekend"):
        return _weekend(lowered, now.date())
    season = re.search(SEASON, lowered)
    period = _season(lowered, season[0], now.date()) if season else _parsed(lowered, now)
    if period is not None and lowered.startswith("since"):
        return Period(period.start, max(now.date(), period.end))
    return period


def _parsed(words: str, now: datetime) -> Period | None:
    for vague, number in VAGUE:
        words = re.sub(vague, number, words)
    parser = DateDataParser(
        languages=["en"],
        settings={
            "RELATIVE_BASE": now.replace(tzinfo=None),
            "PREFER_DATES_FROM": "future" if FUTURE.match(words) else "past",
        },
    )
    found = parser.get_date_data("today" if words == "tonight" else words)
    if found.date_obj is None:
        # "last June" and "in June" are the June before.
        found = parser.get_date_data(LEAD.sub("", words, count=1))
    return _around(found.date_obj.date(), found.period) if found.date_obj else None


def _around(day: date, unit: str) -> Period:
    if unit == "year":
        return Period(date(day.year, 1, 1), date(day.year, 12, 31))
    if unit == "month":
        return Period(day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1]))
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return Period(monday, monday + timedelta(days=6))
    return Period(day, day)


def _weekend(words: str, today: date) -> Period:
    saturday = today + timedelta(days=SATURDAY - today.weekday())
    saturday += timedelta(weeks={"last": -1, "next": 1}.get(words.split()[0], 0))
    return Period(saturday, saturday + timedelta(days=1))


def _season(words: str, season: str, today: date) -> Period:
    """Three months from the season's first, of the year named or the latest that has begun."""
    year = re.search(YEAR, words)
    start = date(int(year.group()) if year else today.year, SEASONS[season], 1)
    if year is None and words.startswith("next"):
        start = start if start > today else start.replace(year=start.year + 1)
    elif year is None and start > today:
        start = start.replace(year=start.year - 1)
    last = start + timedelta(days=80)
    return Period(start, last.replace(day=monthrange(last.year, last.month)[1]))
