"""Grammar of English time expressions, shared by the dates of facts and the times of questions.

DAY names a day or a week. COARSE_IN_FACT and COARSE_IN_QUESTION name longer times, and differ
on purpose. A fact keeps its words and gets no date from them, so any year after a preposition
will do. A question's words are resolved to a period: it may name a bare year, and needs a word
before a month or a year behind it, because "may" and "march" are verbs too.
"""

import re

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
COUNT = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)"
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # their first months
SEASON = rf"(?:{'|'.join(SEASONS)})"
YEAR = r"(?:19|20)\d{2}"
MONTHS_AGO = rf"(?:{COUNT}|a\s+(?:few|couple\s+of))\s+(?:months?|years?|weeks?)\s+ago"
IN_MONTHS = rf"in\s+{COUNT}\s+(?:months?|years?)"
PART_OF_TODAY = r"(?:earlier\s+)?this\s+(?:morning|afternoon|evening)"

DAY = re.compile(
    rf"""\b(?:
        \d{{4}}-\d{{2}}-\d{{2}}
      | \d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH}\b\.?(?:,?\s+\d{{4}}\b)?
      | {MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!\s*\d)(?:,?\s+\d{{4}}\b)?
      | the\s+day\s+(?:before\s+yesterday|after\s+tomorrow)
      | yesterday | today | tonight | tomorrow | last\s+night
      | {PART_OF_TODAY}
      | (?:last|next)\s+week
      | {COUNT}\s+(?:days?|weeks?)\s+ago
      | in\s+{COUNT}\s+(?:days?|weeks?)\b(?!\s+time)
      | (?:(?:last|next|this|on)\s+){WEEKDAY}
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
TODAY = re.compile(rf"tonight|{PART_OF_TODAY}", re.IGNORECASE)
COARSE_IN_FACT = re.compile(
    rf"""\b(?:
        (?:last|next|this)\s+(?:month|year|weekend|{SEASON})
      | in\s+(?:the\s+)?(?!fall\b){SEASON}  # one breaks a leg in the fall
      | {MONTHS_AGO} | {IN_MONTHS}
      | (?:in|since|last|next)\s+(?:{MONTH}\s+)?\d{{4}}
      | (?:in|since|last|next)\s+{MONTH}
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
COARSE_IN_QUESTION = re.compile(
    rf"""\b(?:
        (?:since\s+)?{MONTH}\.?(?:\s+\d{{1,2}})?,?\s+(?:of\s+)?{YEAR}
      | (?:since\s+)?{SEASON}\s+(?:of\s+)?{YEAR}
      | (?:in|since|during|by|of|early|late|this|last|next)\s+{MONTH}(?!\.?,?\s+{YEAR})
      | (?:in|since|during|this|last|next)\s+(?:the\s+)?{SEASON}(?!\s+(?:of\s+)?{YEAR})
      | (?:this|last|next)\s+(?:week|weekend|month|year)
      | {COUNT}\s+days?\s+ago | a\s+(?:few|couple\s+of)\s+days\s+ago | {MONTHS_AGO}
      | in\s+{COUNT}\s+(?:days?|weeks?) | {IN_MONTHS}
      | {YEAR}
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
