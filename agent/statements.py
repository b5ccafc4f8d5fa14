"""Which sentences state something about the user or their people, pets and things."""

import re

from agent.dates import time_expression
from agent.moods import is_open, states_nothing
from agent.records import FactKind

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
APOSTROPHES = (
    (re.compile(r"^(i)(m|ve)\b(?=\s+[a-z])", re.IGNORECASE), r"\1'\2"),
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|ca|wo)nt\b", re.IGNORECASE), r"\1n't"),
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
    r"|growing\s+up"
    r"|over\s+the\s+\w+|on\s+(?:the\s+)?\d[\w\s]{2,18}),?\s+)?"
)
_ME = r"(?:i|we|me\s+and\s+my\s+\w+|my\s+[\w-]+(?:\s[\w-]+){0,2}\s+and\s+i)"


OPENING = re.compile(f"^{TIME_FIRST}", re.IGNORECASE)


def _starts(body: str) -> re.Pattern[str]:
    return re.compile(f"^{TIME_FIRST}(?:{body})", re.IGNORECASE | re.VERBOSE)


LASTING = (
    # What one does, has, likes.
    _starts(
        rf"""{_ME}\s+{_OFTEN}(?:live|work|study|teach|own|love|like|hate
        |dislike|enjoy|prefer|adore|detest|loathe|play|speak|drive|ride|collect|eat|drink|smoke|cook
        |bake|sing|dance|swim|paint|draw|practi[cs]e|support|volunteer|belong|come\s+from|grew\s+up
        |stand|suffer|attend|follow\s+a|loved|liked|enjoyed|hated|wear|commute|believe\s+in
        |run\s+(?:a|the|my|our|every|\d)
        |use\s+an?|keep|raise|breed|garden|hike|climb|ski|surf|knit|sew|travel|grow|used\s+to|worked
        |help\s+(?!me\b|you\b|with\b)\w+|write|restore|build|repair|lift|rent|share
        |care\s+(?:for|about)|trust|listen\s+to|spend\s+(?:my|our|most|a\s+lot)|weigh|graduated|studied
        |served|get\s+along|get\s+(?:to|a\s+lot|my|very)\b|try\s+to\s+(?:eat|stay|live|be|keep|save
        |avoid|exercise|go|spend|get)|miss\s+(?:my|our|being|the)
        |(?<!n't\s)(?<!not\s)know\s+how\s+to|design|explore|train
        |compete|manage|sell|make|hunt|fish|camp|bike|jog|sculpt|photograph|perform|coach|serve
        |handle
        |struggle|specialize|take\s+(?:medication|insulin|pills|\d+\s?mg|\w+(?:formin|pril|statin
        |azole|profen|cillin|etine|sartan|olol))|do\s+(?:\w+ing\b|yoga|karate|research|martial
        |crafts?|stand-up|all|most|a\s+lot)
        |go\s+to\s+(?:\w+\s+)?(?:school|college|church|university|mosque|synagogue|the\s+gym)
        |go\s+(?:\w+ing|out)\b|looks?\s+(?:like|after)|feel\s+(?:most|at\s+home|good\s+when
        |connected)
        |wanted\s+(?:a|to\s+(?:be|become|serve|learn|help|work|study|have|go|do|see|make|play))
        |need\s+(?:glasses|a\s+wheelchair|a\s+cane|insulin|medication|to\s+(?:wear|take\s+(?:my
        |insulin|medic)))
        |want\s+(?:kids|children|a\s+(?:family|big|dog|cat)|to\s+(?:be\s+an?|learn|become|visit
        |live|move
        |study|retire|travel|serve|own|work\s+(?:as|for|in|with|at)|help\s+(?:people|others|animals
        |kids)
        |have\s+(?:kids|children|a\s+family)|write\s+a)))\b(?!\?)"""
    ),
    _starts(
        rf"(?:i|we)\s+{_OFTEN}(?:read|watch|listen|go|take|get\s+up|wake\s+up|meet|visit|call|walk"
        rf"|do|see)\b"
        r".*\b(?:every|each|always|usually|often|a\s+lot|mostly|mainly|\w+days|daily|weekly"
        r"|once\s+a"
        r"|twice\s+a|mornings|evenings|weekends|never|together|when)\b"
    ),
    _starts(
        rf"(?:i|we)\s+{_OFTEN}(?:can|can't|cannot)\s+(?:speak|play|sing|swim|cook|dance|drive"
        rf"|ride)\b"
    ),
    _starts(
        rf"(?:i|we)\s+{_OFTEN}(?:have|haven't|'ve\s+got|'ve|had)\s+(?!to\b|been\b|\w+(?:ed|n"
        rf"|t)\b\s+"
        rf"(?:the|this|that|your)\b|a\s+(?:look|try|go|nice|good|great)\b|heard\b|no\s+idea)"
    ),
    _starts(
        r"(?:i|we)\s+(?:really\s+)?(?:always|usually|often|sometimes|rarely|never|normally|typically)"
        r"\s+(?!get\b|got\b|see\b|saw\b|said\b|thought\b|knew\b|asked\b|meant\b|heard\b)\w+\s"
    ),
    # What one has done, or does since.
    _starts(r"(?:i|we)(?:'ve|\s+have)\s+\w+(?:ed|n)\s.*\b(?:for|since)\s"),
    _starts(
        r"""(?:i|we)(?:'ve|\s+have(?:\s+not|n't)?)\s+(?:(?:always|never|only|also|just|both
        |actually|really
        |even|recently|already|not|ever)\s+)*(?:
          (?<=always\s)\w+ | (?<=never\s)(?!heard|thought|seen\s+(?:that|this))\w+ | (?<=only\s)\w+
        | gone | built | written | won | lived | worked | taught | travell?ed | visited | played
        | studied
        | met | owned | raised | grown | learn(?:ed|t) | moved | competed | published | performed
        | collected | done\s+(?:a\s+lot|some|many) | seen | read\s+(?:a\s+lot|all|every|many|most)
        | made | ridden | driven | flown | climbed | run\s+(?:an?|two|three|several|many)
        | had\s+(?:an?|\w+s)
        | got\s | decided\s+to | wanted | loved | enjoyed | tried | become | lost | broken
        | caught | eaten
        | been\s+(?:an?|to|in|on|living|working|married|together|dating|studying|learning
          |playing|vegan|vegetarian|practi[cs]ing|training|taking|reading|watching|going
          |thinking\s+(?:about|of)
          |writing|saving|collecting|teaching|running|painting|cooking|baking|dancing|riding|doing
          |making
          |volunteering|interested|fascinated|drawn|single|sober|vegan|passionate|diagnosed|through
          |called
          |hiking|swimming|camping|singing|skating|\w+ing\b(?=.*\b(?:for|since)\s))
        )\b"""
    ),
    # What one is.
    _starts(
        rf"""(?:i|we)\s*{_BE}\s+{_OFTEN}(?:
            (?:an?\s+(?:bit|little|lot)\s+of|more\s+of|much\s+of|kind\s+of|sort\s+of)\s+an?\s
          | an?\s+(?!(?:bit|little|lot|few|couple)\b) | the\s+\w+ | one\s+of | from\s | called\s
          | named\s | based\s+in | born\b | raised\b | into\s | \d{{1,3}}\b | in\s+my\s+\w+ies
          | (?<=was\s)in\s+(?:an?|the)\s | (?<=always\s)(?:looking|up\s+for|trying|on|open|learning
          |willing
            |making|playing|busy|interested|been)
          | (?:very\s+|so\s+|completely\s+|severely\s+|more\s+|highly\s+)?(?:married|single
          |divorced|widowed
            |engaged|vegan|vegetarian|pescatarian|retired|unemployed|self-employed|pregnant
            |allergic|diabetic
            |dyslexic|colou?r-?blind|deaf|blind|(?:left|right)-handed|lactose|afraid\s+of
            |scared\s+of|terrified\s+of|(?:good|bad|terrible|great|better|best|amazing)\s+(?:at
            |with)
            |interested\s+in|bilingual|passionate\s+about|fond\s+of|obsessed\s+with|fluent\s+in
            |religious
            |jewish|muslim|catholic|buddhist|hindu|christian|atheist|gay|lesbian|bisexual|trans
            |autistic|shy
            |introverted|extroverted|twins|siblings|tall|short|adopted|diagnosed|intolerant|disabled
            |conservative|liberal|homeschooled|close\s+(?:to|with)|proud\s+(?:to\s+be|of)
            |overweight|skinny
            |bald|blonde?|red-haired|big|of\s+(?:the|\w+\s+(?:descent|origin))|on\s+a\s+diet
            |athletic|creative|outgoing|competitive|adventurous|lazy|clumsy|picky|organi[sz]ed
            |crafty|patient
            |hard-?working|ambitious|active|musical|artistic|spiritual|independent|addicted\s+to
            |new\s+(?:to|in|at|here)
            |fascinated\s+(?:by|with)|in\s+love|happy\s+(?:being|with\s+my|in\s+my)
            |excited\s+(?:about\s+my|to\s+start)
            |friends|best\s+friends|neighbors|rivals|roommates|originally|committed|dedicated
            |sensitive|strict
            |in\s+(?:the\s+(?:army|navy|air\s+force|military|\w+\s+grade|process\s+of)|college
            |high\s+school
              |middle\s+school|university|school|a\s+(?:band|choir|relationship|wheelchair)))\b
          | (?:learning|studying|training|working\s+(?:as|at|for|in|on\s+my|with|out)|living
          |teaching|raising
            |dating|expecting|attending|serving|preparing\s+for|homeschooling|hoping\s+to|saving|renovating
            |restoring
            |writing\s+(?:a|my)|taking\s+(?:an?\b|college|classes|lessons|care|\w+\s+(?:class
            |lesson)s?)
            |looking\s+for\s+(?:an?\s+(?:new\s+)?(?:job|house|home|apartment|flat|roommate|wife
            |husband
            |partner|girlfriend|boyfriend)|work|love)
            |trying\s+to\s+(?:lose|get\s+(?:in|into|better|healthy|pregnant)|become|save|eat|quit
            |stay|be)
            |reading\s(?!your|this|that|the\s+(?:docs|manual)))\b
        )"""
    ),
    # One's people, pets and things.
    _starts(
        r"""(?:(?:both|one|two|three|all|most|some)\s+(?:of\s+)?)?(?:my
        |our)\s+[\w'\u2019\s,-]{1,60}?
        (?:\s(?:is|are|was|were|has|have|had|lives?|works?|likes?|loves?|hates?|dislikes?|enjoys?
        |prefers?|plays?|speaks?|studies|study|teach(?:es)?|owns?|died|passed\s+away|comes?\s+from
        |got|moved|turned|turns|go|goes|eats?|drinks?|drives?|isn't|aren't|wasn't|hasn't|doesn't
        |don't
        |didn't|does|do|did|can't|cannot|can|used\s+to|grew\s+up|runs?|sings?|paints?|collects?
        |bought|retired|married|visits?|calls?|sleeps?|barks?|suffers?|weighs?|starts?|ends?|makes?
        |made
        |practi[cs]es?|leaves?|left|wants?|helps?|gives?|gave|takes?|took|broke|opens?|grows?|cooks?
        |bakes?|spent|loved|lived|worked|played|met|raised|taught|came|went|served|always|never|also
        |cheated|divorced|wanted|hated|liked|serves?|travels?|raise|support|supports|stole)\b
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
    re.compile(
        rf"^(?:I am|I['\u2019]m|We are|We['\u2019]re) (?!OK\b){NAME}(?: {NAME}){{0,2}}"
        r"(?:, .+)?[.!]*$"
    ),
)
EVENT = _starts(
    rf"""{_ME}\s+{_OFTEN}(?:went\s+(?:to|on|back|skiing|hiking|camping|sailing|out|for)
    |visited|bought|moved|graduated|married|adopted|met\s|lost\s+(?:my|our|a)\b|won(?!')|joined
    |broke\s+(?:my|up|an?)|became|quit|left|sold\s+(?:my|our|the)|celebrated|flew|travell?ed
    |attended|retired
    |gave\s+birth|got\s+(?:married|engaged|divorced|promoted|fired|an?\b|the\s+job|my\b|our\b
    |back\s+from|into)
    |started\s+(?:a|my|our|out|school|university|college|as|at|\w+ing)
    |finished\s+(?:my|our|school|university|college)|passed\s+(?:my|the)|ran\s+(?:a|my
    |the)\b[\w\s]*\bmarathon
    |learn(?:ed|t)\s+(?:to|how|a)|saw\s+(?:my|our|an?\s)|turned\s+\d+|named|planted|published
    |inherited
    |stopped\s+\w+ing|gave\s+up|signed\s+up|spent|painted|had\s+(?:an?|my|our)\b|decided\s+to
    |was\s+(?:promoted|fired|hired|diagnosed|robbed|baptised|arrested|injured|born\s+and)
    |played|lived|taught|caught|cooked|baked|hiked|climbed|rode|drove|performed|competed|majored
    |dropped\s+out
    |volunteered|hurt|injured|rescued|dated|raised|trained|swam|watched|ate|photographed|served
    |enlisted
    |took\s+(?:up|part|an?|my|some|the)|made\s+(?:an?|some|my)|read\s+an?\b|used\s+my
    |built\s+(?:an?|my|our))\b
    |(?:my|our)\s+[\w'\s-]{{1,40}}?\s(?:died|passed\s+away|moved|got\s+(?:married|engaged|divorced
    |a)
    |gave\s+birth|graduated|retired|turned\s+\d+|was\s+born|had\s+(?:a|an|his|her)\s|broke\s+(?:his|her|my|the
    |up))\b"""
)
PLAN = _starts(
    rf"""(?:(?:i|we)\s*(?:am|are|'m|'re)\s+{_OFTEN}(?:going|planning|moving|flying|travell?ing
    |visiting|getting|starting|having|meeting|leaving|running|taking|seeing)\b
    |(?:i|we)(?:\s+will|'ll|\s+plan\s+to|\s+have)\s+(?!have\b|see\b|be\s+able\b|to\b)\w+
    |(?:my|our)\s+[\w'\s-]{{1,40}}\s(?:is|are|starts?|begins?|leaves?|arrives?|moves?|gets?)\s)"""
)
# A plan in so many words, without a time.
INTENT = _starts(
    rf"""(?:(?:i|we)\s*(?:am|are|'m|'re)\s+{_OFTEN}(?:going\s+to\s+(?!have\b|need|try\b|check|look"
    rf"|see\b|say
    |ask|assume|use\b|the\s+(?:gym|store|shop)|be\s+(?:able|ok|fine|sick)|miss\b|stop\b|bed\b
    |sleep\b)
    |planning\s+(?:on|to|an?|our|my)\b|thinking\s+(?:about|of)\s+\w+ing|getting\s+married
    |moving\s+(?:to|in|out))
    |(?:i|we)\s+{_OFTEN}plan\s+(?:on|to)\b(?!\s+(?:use|try|ask)\b))"""
)
# States that are over soon.
TRANSIENT = _starts(
    rf"""(?:i|we)\s*(?:am|are|'m|'re|aren't)\s+{_OFTEN}(?:
      on\s+(?:the|an?|my|our)\s+(?:train|bus|plane|phone|way|road|call|break|metro|subway|tram|boat
        |ferry
        |flight|couch|sofa|bench|platform)
    | at\s+(?:the|an?|my)\s+(?:airport|station|supermarket|gym|doctor's|dentist|dentist's|office
    |store|shop
        |mall|bank|hospital|restaurant|caf[e\u00e9]|bar|beach|park|bus\s+stop|desk)
    | in\s+(?:an?|the)\s+(?:meeting|car|taxi|queue|lecture|class|train|kitchen|shower|hurry
    |waiting\s+room)
    | in\s+(?-i:[A-Z])\w+ | waiting\s+for | stuck | about\s+to | late\b | running\s+late | hungry
    | tired | sick\b | ill\b | bored
    | sleepy | exhausted | busy\b | cooking | debugging | packing | heading | having\s+(?:lunch
    |dinner|breakfast)
    | writing\s+an?\s+(?:e-?mail|report|essay|script|test) | working\s+on\s+(?:an?|the|this|it)\b
    )"""
)


def strip_lead_in(sentence: str) -> str:
    """The sentence without greetings and turns of phrase at its start."""
    plain = sentence.replace("\u2019", "'")
    while found := LEAD_IN.match(plain):
        if found.end() == len(plain):
            return ""
        plain = plain[found.end() :]
    return plain


def spelled_out(statement: str) -> str:
    """`statement` with the apostrophes that people leave out: "im", "ive", "dont"."""
    plain = statement.replace("\u2019", "'")
    for pattern, full in APOSTROPHES:
        plain = pattern.sub(full, plain)
    return plain


def kind_of(statement: str) -> FactKind | None:
    """What kind of statement this is, or None where it states nothing to remember.

    `statement` has no lead-in. It reads English: questions, requests, hypotheticals and
    what says nothing alone are None, and so is any other language.
    """
    statement = spelled_out(statement)
    if states_nothing(statement) or is_open(OPENING.sub("", statement)):
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
