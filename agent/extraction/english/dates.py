"""When something happened: the speaker's own words, resolved against the time they were said."""

import re
from datetime import UTC, date, datetime, tzinfo
from typing import Literal

from dateparser.date import DateDataParser

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
COUNT = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
# Words that name a day or a week. A bare month or year names no day, so it is no date.
EXPRESSION = re.compile(
    rf"""\b(?:
        \d{{4}}-\d{{2}}-\d{{2}}
      | \d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH}\b\.?(?:,?\s+\d{{4}}\b)?
      | {MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!\s*\d)(?:,?\s+\d{{4}}\b)?
      | the\s+day\s+(?:before\s+yesterday|after\s+tomorrow)
      | yesterday | today | tonight | tomorrow | last\s+night
      | (?:earlier\s+)?this\s+(?:morning|afternoon|evening)
      | (?:last|next)\s+week
      | {COUNT}\s+(?:days?|weeks?)\s+ago
      | in\s+{COUNT}\s+(?:days?|weeks?)\b(?!\s+time)
      | (?:(?:last|next|this|on)\s+){DAY}
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
TODAY = re.compile(r"tonight|(?:earlier\s+)?this\s+(?:morning|afternoon|evening)", re.IGNORECASE)
OTHER_LANGUAGES = ["de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "zh", "ja", "ko"]
COARSE = re.compile(
    rf"""\b(?:
        (?:last|next|this)\s+(?:month|year|spring|summer|autumn|fall|winter|weekend)
      | in\s+(?:the\s+)?(?:spring|summer|autumn|winter)
      | (?:{COUNT}|a\s+(?:few|couple\s+of))\s+(?:months?|years?|weeks?)\s+ago
      | in\s+{COUNT}\s+(?:months?|years?)
      | (?:in|since|last|next)\s+(?:{MONTH}\s+)?\d{{4}}
      | (?:in|since|last|next)\s+{MONTH}
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def time_expression(text: str) -> str | None:
    """The first words in `text` that say when, verbatim."""
    found = EXPRESSION.search(text) or COARSE.search(text)
    return found.group() if found else None


def resolve(
    expression: str,
    said_at: datetime,
    direction: Literal["past", "future"] = "past",
    zone: tzinfo = UTC,
) -> date | None:
    """The day (or a day of the week) that `expression` means for who says it at `said_at`.

    `said_at` is an instant; days are days in `zone`. None where the words name no day, such
    as "in 2019". `direction` decides what is open, such as which Friday.
    """
    english = EXPRESSION.fullmatch(expression) is not None
    if not english and (COARSE.search(expression) or not expression.strip()):
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
