"""Which sentences state something lasting about the user or their people, pets and things."""

import re

from agent.dates import time_expression
from agent.records import FactKind

LEAD_IN = re.compile(
    r"""^(?:
        (?:hi|hello|hey|greetings|good\s+(?:morning|afternoon|evening))
          (?:\s+(?:there|again|everyone|assistant))?
      | well | so | ok(?:ay)? | oh | ah | u?hm+ | yes | yeah | yep | no | nope | actually | btw
      | by\s+the\s+way | also | and | but | anyway | fyi | just\s+so\s+you\s+know
      | for\s+the\s+record | thanks | thank\s+you | sure | right | sorry | unfortunately | sadly
      | luckily | fortunately | honestly | to\s+be\s+honest | in\s+fact | as\s+you\s+know
      | (?:please\s+)?(?:remember|note|know|keep\s+in\s+mind|don't\s+forget)(?:\s+that|:)
      | (?:please\s+)?(?:remember|note)(?=\s+(?:i|my|we|our)\b)
      | (?:you\s+should|i\s+want\s+you\s+to|i(?:'d|\s+would)\s+like\s+you\s+to)
          \s+(?:know|remember)(?:\s+that)?
      | (?:let\s+me\s+tell\s+you|i\s+(?:can|must|wanted\s+to|want\s+to)\s+tell\s+you)(?:\s+that)?
    )(?:\s*[,.!:;\u2013\u2014-]+\s*|\s+)""",
    re.IGNORECASE | re.VERBOSE,
)
UNSURE = re.compile(
    r"""\b(?:if|unless|whether|imagine|suppose|supposing|pretend|assume|assuming|hypothetical(?:ly)?
      |let's\s+say|would|could|might|maybe|perhaps|probably|should|shall|wish|hope|guess|role-?play
      |i(?:'d|\s+had\s+better)|in\s+(?:my|the|this|a)\s+(?:dream|story|novel|scenario|game|poem))\b""",
    re.IGNORECASE | re.VERBOSE,
)
PASSING = re.compile(
    r"\b(?:today|tonight|right now|at the moment|just now|this (?:morning|afternoon|evening)"
    r"|for a moment|in a (?:minute|moment|hurry))\b",
    re.IGNORECASE,
)
TASK_NOUNS = (
    r"(?:questions?|problems?|issues?|ideas?|points?|guess|doubts?|requests?|favou?rs?|headache"
    r"|feeling|hunch|suggestions?|tasks?|errors?|bugs?|messages?|code|script|function|files?|lists?"
    r"|prompts?|inputs?|outputs?|texts?|sentences?|paragraphs?|documents?|data|dataset|thoughts?"
    r"|opinion|understanding|query|answers?|bad|apologies|mistake|turn|example|meaning)"
)
ABOUT_A_TASK = re.compile(
    rf"^(?:i|we)(?:'ve|\s+(?:have|had|got|made|see|wrote))\s+(?:got\s+)?(?:(?:an?|the|some|this"
    rf"|another|one|two|no|my)\s+)?(?:[\w-]+\s+)?{TASK_NOUNS}\b"
    rf"|^(?:my|our)\s+(?:[\w-]+\s+){{0,2}}{TASK_NOUNS}\s+[a-z]",
    re.IGNORECASE,
)

# "I love it" says nothing once the sentence before it is gone; "your jokes" are not the user's.
POINTS_ELSEWHERE = re.compile(
    r"""^(?:i|we)(?:'\w+)?\s+(?:[\w']+\s+){1,4}?(?:(?:it|them|those|these|him|there)\b|ones?[\s.!]*$)
      | ^(?:i|we)(?:'\w+)?\s+(?:[\w']+\s+){1,3}?(?:of\s+)?(?:that|this|her|his|hers|their|theirs)\b
        (?<!\bso\sthat)
      | \b(?:your|yours|yourself)\b | \byou\b(?!\s+can\s+call)""",
    re.IGNORECASE | re.VERBOSE,
)

_OFTEN = (
    r"(?:(?:really|also|still|currently|now|always|usually|often|sometimes|never|just|recently"
    r"|finally|actually|absolutely|truly|both|already|only|mostly|mainly|no\s+longer|not|do|did"
    r"|don't|didn't|can|can't|cannot|couldn't|first|originally|once|all|each)\s+){0,3}"
)
_BE = r"(?:am|are|'m|'re|am\s+not|are\s+not|'m\s+not|'re\s+not|aren't|was|were|wasn't|weren't)"
TIME_FIRST = (
    r"(?:(?:as\s+an?\s+[\w\s-]{2,30}|in\s+(?:my|our)\s+(?:free|spare)\s+time|at\s+(?:home|work)"
    r"|on\s+\w+days?|every\s+\w+|when\s+i\s+was\s+[\w\s]{1,20}|(?:last|next)\s+\w+|yesterday"
    r"|(?:in|since)\s+(?:\w+\s+)?\d{4}|\w+\s+\w+\s+ago|these\s+days|nowadays|tomorrow"
    r"|on\s+(?:the\s+)?\d[\w\s]{2,18}),?\s+)?"
)


def _starts(body: str) -> re.Pattern[str]:
    return re.compile(f"^{TIME_FIRST}(?:{body})", re.IGNORECASE | re.VERBOSE)


LASTING = (
    # What one does, has, likes.
    _starts(
        rf"""(?:i|we|me\s+and\s+my\s+\w+)\s+{_OFTEN}(?:live|work|study|teach|own|love|like|hate
        |dislike|enjoy|prefer|adore|detest|loathe|play|speak|drive|ride|collect|eat|drink|smoke|cook
        |bake|sing|dance|swim|paint|draw|practi[cs]e|support|volunteer|belong|come\s+from|grew\s+up
        |stand|suffer|attend|follow\s+a|wear|commute|believe\s+in|run\s+(?:a|the|my|our|every|\d)
        |use\s+an?|keep|raise|breed|garden|hike|climb|ski|surf|knit|sew|travel|grow|used\s+to|worked
        |help\s+(?:at|in|out|my|our)|write|restore|build|repair|lift|rent|share|care\s+(?:for|about)
        |listen\s+to|spend\s+(?:my|our|most|a\s+lot)|weigh|graduated|studied|served|get\s+along
        |go\s+to\s+(?:\w+\s+)?(?:school|college|church|university|mosque|synagogue|the\s+gym)
        |want\s+(?:kids|children|to\s+(?:be\s+an?|learn|become|visit|live|move|study|retire|travel
        |have\s+(?:kids|children)|write\s+a)))\b(?!\?)"""
    ),
    _starts(
        rf"(?:i|we)\s+{_OFTEN}(?:read|watch|listen|go|take|get\s+up|wake\s+up|meet|visit|call|walk)\b"
        r".*\b(?:every|each|always|usually|often|a\s+lot|mostly|mainly|\w+days|daily|weekly|once\s+a"
        r"|twice\s+a|mornings|evenings|weekends|never)\b"
    ),
    _starts(
        rf"(?:i|we)\s+{_OFTEN}(?:have|haven't|'ve\s+got|'ve|had)\s+(?!to\b|been\b|\w+(?:ed|n|t)\b\s+"
        rf"(?:the|this|that|your)\b|a\s+(?:look|try|go|nice|good|great)\b)"
    ),
    _starts(r"(?:i|we)(?:'ve|\s+have)\s+\w+ed\s.*\b(?:for|since)\s"),
    _starts(
        r"(?:i|we)(?:'ve|\s+have)\s+(?:also\s+)?(?:got\s|(?:never\s+|always\s+)?been\s+(?:an?|to|in|living"
        r"|working|married|together|dating|studying|learning|playing|vegan|vegetarian)\b)"
    ),
    # What one is.
    _starts(
        rf"""(?:i|we)\s*{_BE}\s+{_OFTEN}(?:
            an?\s+(?!(?:bit|little|lot|few|couple)\b) | the\s+\w+ | one\s+of | from\s | called\s
          | named\s | based\s+in | born\b | raised\b | into\s | \d{{1,3}}\b | in\s+my\s+\w+ies
          | (?:very\s+|so\s+|completely\s+|severely\s+)?(?:married|single|divorced|widowed|engaged
            |vegan|vegetarian|pescatarian|retired|unemployed|self-employed|pregnant|allergic|diabetic
            |dyslexic|colou?r-?blind|deaf|blind|(?:left|right)-handed|lactose|afraid\s+of
            |scared\s+of|terrified\s+of|(?:good|bad|terrible)\s+at|interested\s+in|bilingual
            |passionate\s+about|fond\s+of|obsessed\s+with|fluent\s+in|religious|jewish|muslim
            |catholic|buddhist|hindu|christian|atheist|gay|lesbian|bisexual|trans|autistic|shy
            |introverted|extroverted|twins|siblings|tall|short|adopted|diagnosed|intolerant|disabled
            |conservative|liberal|homeschooled|close\s+(?:to|with)|proud\s+to\s+be|overweight|skinny
            |bald|blonde?|red-haired|big|of\s+(?:the|\w+\s+(?:descent|origin))|on\s+a\s+diet
            |in\s+(?:the\s+(?:army|navy|air\s+force|military|\w+\s+grade)|college|high\s+school
              |middle\s+school|university|school|a\s+(?:band|choir|relationship|wheelchair)))\b
          | (?:learning|studying|training|working\s+(?:as|at|for|in|on\s+my)|living|teaching|raising
            |dating|expecting|reading|attending|serving|homeschooling|hoping\s+to|saving|planning|writing\s+(?:a|my)|renovating|restoring)\b
        )"""
    ),
    # One's people, pets and things.
    _starts(
        r"""(?:(?:both|one|two|three|all|most|some)\s+(?:of\s+)?)?(?:my|our)\s+[\w'\u2019\s,-]{1,60}?
        (?:\s(?:is|are|was|were|has|have|had|lives?|works?|likes?|loves?|hates?|dislikes?|enjoys?
        |prefers?|plays?|speaks?|studies|study|teach(?:es)?|owns?|died|passed\s+away|comes?\s+from
        |got|moved|turned|turns|goes|eats?|drinks?|drives?|isn't|aren't|wasn't|hasn't|doesn't|don't
        |didn't|does|do|did|can't|cannot|can|used\s+to|grew\s+up|runs?|sings?|paints?|collects?
        |bought|retired|married|visits?|calls?|sleeps?|barks?|suffers?|weighs?|starts?|ends?|makes?|made|practi[cs]es?
        |leaves?|left|wants?|helps?|gives?|gave|takes?|took|broke|opens?|grows?|cooks?|bakes?|spent)\b
        |(?<=\w)'s\s(?:called|named|[A-Z]))"""
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
    re.compile(rf"^(?:I am|I['\u2019]m|We are|We['\u2019]re) {NAME}(?: {NAME}){{0,2}}[.!]*$"),
)
EVENT = _starts(
    rf"""(?:i|we|me\s+and\s+my\s+\w+)\s+{_OFTEN}(?:went\s+(?:to|on|back|skiing|hiking|camping|sailing)
    |visited|bought|moved|graduated|married|adopted|met\s|lost\s+(?:my|our|a)\b|won(?!')|joined|broke\s+(?:my|up)
    |became|quit|left|sold\s+(?:my|our|the)|celebrated|flew|travell?ed|attended|retired|gave\s+birth
    |got\s+(?:married|engaged|divorced|promoted|fired|an?\b|the\s+job|my\b|our\b|back\s+from)
    |started\s+(?:a|my|our|working|learning|studying|school|university|college|as|at|playing)
    |finished\s+(?:my|our|school|university|college)|passed\s+(?:my|the)|ran\s+(?:a|my|the)\b[\w\s]*\bmarathon
    |learn(?:ed|t)\s+(?:to|how)|saw\s+(?:my|our)|turned\s+\d+|named|planted|published|inherited
    |stopped\s+\w+ing|gave\s+up|signed\s+up|spent|painted|planted|had\s+(?:a|my|our)\b|was\s+(?:promoted|fired|hired|diagnosed|robbed|baptised))\b"""
)
PLAN = _starts(
    rf"""(?:(?:i|we)\s*(?:am|are|'m|'re)\s+{_OFTEN}(?:going|planning|moving|flying|travell?ing
    |visiting|getting|starting|having|meeting|leaving|running|taking|seeing)\b
    |(?:i|we)(?:\s+will|'ll|\s+plan\s+to|\s+have)\s+(?!have\b|see\b|be\s+able\b|to\b)\w+
    |(?:my|our)\s+[\w'\s-]{{1,40}}\s(?:is|are)\s)"""
)


def strip_lead_in(sentence: str) -> str:
    """The sentence without greetings and turns of phrase at its start."""
    plain = sentence.replace("\u2019", "'")
    while found := LEAD_IN.match(plain):
        if found.end() == len(plain):
            return ""
        plain = plain[found.end() :]
    return plain


def kind_of(statement: str) -> FactKind | None:
    """What kind of statement this is, or None where it states nothing that lasts.

    `statement` has no lead-in. Questions, requests, hypotheticals and passing states are None.
    """
    if statement.rstrip("\"')\u201d ").endswith("?") or UNSURE.search(statement):
        return None
    if ABOUT_A_TASK.match(statement) or POINTS_ELSEWHERE.search(statement):
        return None
    if EVENT.match(statement):
        return "event"
    when = time_expression(statement)
    if PLAN.match(statement) and when and not PASSING.search(when):
        return "plan" if _is_ahead(when) else "stable" if _lasts(statement) else None
    if PASSING.search(statement):
        return None
    return "stable" if _lasts(statement) else None


def _lasts(statement: str) -> bool:
    return any(p.match(statement) for p in LASTING) or any(p.match(statement) for p in NAMED)


def _is_ahead(when: str) -> bool:
    return re.match(r"(?:next|tomorrow|in|on|this|the day after)\b", when, re.I) is not None
