"""Detects statements about the user or their people, pets and things, and their kind."""

import re

from agent.entities import FactKind
from agent.extraction.english.dates import time_expression
from agent.extraction.english.lexicon import (
    AM,
    AM_ALWAYS,
    AM_DOING,
    AM_NOW,
    BEEN,
    DID,
    DO,
    DO_OFTEN,
    DONE,
    HOW_OFTEN,
    NO_HABIT,
    NO_PLAN,
    OTHERS_DID,
    OTHERS_DO,
)
from agent.extraction.english.normalize import restore_apostrophes
from agent.extraction.english.speech_acts import lacks_context, states_nothing

LEAD_IN = re.compile(
    r"""^(?:
        (?:hi|hello|hey|greetings|good\s+(?:morning|afternoon|evening))
          (?:\s+(?:there|again|everyone|assistant))?
      | well | so | ok(?:ay)? | oh | ah | u?hm+ | yes | yeah | yep | no | nope | actually | btw
      | by\s+the\s+way | also | and | but | anyway | fyi | just\s+so\s+you\s+know | wow | haha
      | me\s+too
      | for\s+the\s+record | thanks | thank\s+you | sure | right | sorry | unfortunately | sadly
      | luckily | fortunately | honestly | to\s+be\s+honest | in\s+fact | as\s+you\s+know
      | of\s+course
      | you\s+know\s+what
      | (?:please\s+)?(?:remember|note|know|keep\s+in\s+mind|don't\s+forget)(?:\s+that|:)
      | (?:please\s+)?(?:remember|note)(?=\s+(?:i|my|we|our)\b)
      | (?:you\s+should|i\s+want\s+you\s+to|i(?:'d|\s+would)\s+like\s+you\s+to)
          \s+(?:know|remember)(?:\s+that)?
      | (?:let\s+me\s+tell\s+you|i\s+(?:can|must|wanted\s+to|want\s+to)\s+tell\s+you)(?:\s+that)?
    )(?:\s*[,.!:;\u2013\u2014-]+\s*|\s+)""",
    re.IGNORECASE | re.VERBOSE,
)
PASSING = re.compile(
    r"\b(?:today|tonight|right now|at the moment|just now|this (?:morning|afternoon|evening)"
    r"|for a moment|in a (?:minute|moment|hurry))\b",
    re.IGNORECASE,
)
_OFTEN = (
    r"(?:(?:really|also|still|currently|now|always|usually|often|sometimes|never|just|recently"
    r"|finally|actually|absolutely|truly|both|already|only|mostly|mainly|no\s+longer|not|do|did"
    r"|don't|didn't|can|can't|cannot|couldn't|first|originally|once|all|each|especially|definitely"
    r"|even|pretty|very|quite|so|too|rarely|especially|personally|eventually|then)\s+){0,3}"
)
_BE = r"(?:am|are|'m|'re|am\s+not|are\s+not|'m\s+not|'re\s+not|aren't|was|were|wasn't|weren't)"
TIME_FIRST = (
    r"(?:(?:as\s+an?\s+[\w\s-]{2,30}|in\s+(?:my|our)\s+(?:free|spare)\s+time|at\s+(?:home|work)"
    r"|on\s+\w+days?|every\s+\w+|when\s+i\s+was\s+[\w\s]{1,20}|(?:last|next)\s+\w+|yesterday"
    r"|(?:in|since)\s+(?:\w+\s+)?\d{4}|\w+\s+\w+\s+ago|these\s+days|nowadays|tomorrow|today|tonight"
    r"|recently|lately|this\s+\w+|earlier\s+today|the\s+other\s+day|currently|now|right\s+now"
    r"|growing\s+up|over\s+the\s+\w+|on\s+(?:the\s+)?\d[\w\s]{2,18}),?\s+)?"
)
_ALWAYS = r"(?:always|usually|often|sometimes|rarely|never|normally|typically)"
_SOME = r"(?:(?:both|one|two|three|all|most|some)\s+(?:of\s+)?)?"
_I = r"(?:i|we)"
_ME = r"(?:i|we|me\s+and\s+my\s+\w+|my\s+[\w-]+(?:\s[\w-]+){0,2}\s+and\s+i)"
OPENING = re.compile(f"^{TIME_FIRST}", re.IGNORECASE)


def _starts(body: str) -> re.Pattern[str]:
    return re.compile(f"^{TIME_FIRST}(?:{body})", re.IGNORECASE | re.VERBOSE)


LASTING = (
    # What one does, has, likes.
    _starts(rf"{_ME}\s+{_OFTEN}{DO}\b"),
    _starts(rf"{_I}\s+{_OFTEN}{DO_OFTEN}\b.*\b{HOW_OFTEN}\b"),
    _starts(rf"{_I}\s+(?:really\s+)?{_ALWAYS}\s+(?!{NO_HABIT}\b)\w+\s"),
    _starts(
        rf"{_I}\s+{_OFTEN}(?:can|can't|cannot)\s+(?:speak|play|sing|swim|cook|dance|drive|ride)\b"
    ),
    _starts(
        rf"{_I}\s+{_OFTEN}(?:have|haven't|'ve\s+got|'ve|had)\s+(?!to\b|been\b|heard\b|no\s+idea"
        r"|\w+(?:ed|n|t)\b\s+(?:the|this|that|your)\b|a\s+(?:look|try|go|nice|good|great)\b)"
    ),
    # What one has done, or does since.
    _starts(rf"{_I}(?:'ve|\s+have)\s+\w+(?:ed|n)\s.*\b(?:for|since)\s"),
    _starts(
        rf"{_I}(?:'ve|\s+have(?:\s+not|n't)?)\s+(?:(?:always|never|only|also|just|both|actually"
        rf"|really|even|recently|already|not|ever)\s+)*(?:{DONE}|been\s+{BEEN})\b"
    ),
    # What one is.
    _starts(
        rf"""{_I}\s*{_BE}\s+{_OFTEN}(?:
            (?:an?\s+(?:bit|little|lot)\s+of|more\s+of|much\s+of|kind\s+of|sort\s+of)\s+an?\s
          | an?\s+(?!(?:bit|little|lot|few|couple)\b) | the\s+\w+ | one\s+of | from\s | called\s
          | named\s | based\s+in | born\b | raised\b | into\s | \d{{1,3}}\b | in\s+my\s+\w+ies
          | (?<=was\s)in\s+(?:an?|the)\s | (?<=always\s){AM_ALWAYS}
          | (?:(?:completely|severely|more|highly)\s+)?{AM}\b | {AM_DOING}\b
        )"""
    ),
    # One's people, pets and things.
    _starts(
        rf"{_SOME}(?:my|our)\s+[\w'\u2019\s,-]{{1,60}}?"
        rf"(?:\s{OTHERS_DO}\b|(?<=\w)'s\s(?:called|named|[A-Z]))"
    ),
    _starts(r"(?:the\s+)?\w+(?:\s\w+)?\s+of\s+(?:my|our)\s+[\w\s'-]{1,30}\s(?:is|are|was|were)\b"),
    _starts(r"(?:you\s+can\s+|people\s+|friends\s+|please\s+|just\s+)?call\s+me\s+\w+\s*[.!]*$"),
)
# Case tells a name from a word.
NAME = r"[A-Z][\w'\u2019-]+"
NAMED = (
    re.compile(rf"^{NAME}(?: {NAME})? (?:is|was) (?:my|our|one of my|a friend of mine)\b"),
    re.compile(
        r"^[A-Z][\w-]+(?: [A-Z][\w-]+)?['\u2019]s (?:birthday|name|age|job|anniversary|surname"
        r"|nickname|phone number|address|favou?rite [\w ]+) (?:is|was)\b"
    ),
    re.compile(
        rf"^(?:I am|I['\u2019]m|We are|We['\u2019]re) (?!OK\b){NAME}(?: {NAME}){{0,2}}"
        r"(?:, .+)?[.!]*$"
    ),
)
EVENT = _starts(rf"{_ME}\s+{_OFTEN}{DID}\b|(?:my|our)\s+[\w'\s-]{{1,40}}?\s{OTHERS_DID}\b")
PLAN = _starts(
    rf"""{_I}\s*(?:am|are|'m|'re)\s+{_OFTEN}(?:going|planning|moving|flying|travell?ing
    |visiting|getting|starting|having|meeting|leaving|running|taking|seeing)\b
    |{_I}(?:\s+will|'ll|\s+plan\s+to|\s+have)\s+(?!have\b|see\b|be\s+able\b|to\b)\w+
    |(?:my|our)\s+[\w'\s-]{{1,40}}\s(?:is|are|starts?|begins?|leaves?|arrives?|moves?|gets?)\s"""
)
# A plan in so many words, without a time.
INTENT = _starts(
    rf"""{_I}\s*(?:am|are|'m|'re)\s+{_OFTEN}(?:going\s+to\s+(?!{NO_PLAN})
    |planning\s+(?:on|to|an?|our|my)\b|thinking\s+(?:about|of)\s+\w+ing|getting\s+married
    |moving\s+(?:to|in|out))
    |{_I}\s+{_OFTEN}plan\s+(?:on|to)\b(?!\s+(?:use|try|ask)\b)"""
)
TRANSIENT = _starts(rf"{_I}\s*(?:am|are|'m|'re|aren't)\s+{_OFTEN}{AM_NOW}")


def strip_lead_in(sentence: str) -> str:
    """The sentence without greetings and turns of phrase at its start."""
    plain = sentence.replace("\u2019", "'")
    while found := LEAD_IN.match(plain):
        if found.end() == len(plain):
            return ""
        plain = plain[found.end() :]
    return plain


def kind_of(statement: str) -> FactKind | None:
    """The kind of a statement, or None for a sentence that states nothing to remember.

    `statement` has no lead-in. It reads English: questions, requests, hypotheticals and
    what says nothing alone are None, and so is any other language.
    """
    statement = restore_apostrophes(statement)
    if states_nothing(statement) or lacks_context(OPENING.sub("", statement)):
        return None
    if EVENT.match(statement):
        return "event"
    when = time_expression(statement)
    if when and PLAN.match(statement) and not _is_now(when):
        return "plan" if _is_ahead(when) else "stable" if _lasts(statement) else None
    if INTENT.match(statement):
        return "plan"
    if TRANSIENT.match(statement):
        return "transient"
    if _lasts(statement):
        return "transient" if PASSING.search(statement) else "stable"
    return None


def _lasts(statement: str) -> bool:
    return any(p.match(statement) for p in LASTING) or any(p.match(statement) for p in NAMED)


def _is_now(when: str) -> bool:
    return PASSING.search(when) is not None and when.lower() != "tonight"


def _is_ahead(when: str) -> bool:
    return re.match(r"(?:next|tomorrow|tonight|in|on|this|the day after)\b", when, re.I) is not None
