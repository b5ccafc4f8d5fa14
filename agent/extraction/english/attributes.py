"""Attributes: properties with one value at a time, so that a new value replaces the old one."""

import re
from dataclasses import dataclass

from agent.extraction.english.normalize import expand_first_person, restore_apostrophes
from agent.extraction.english.statements import OPENING, strip_lead_in
from agent.extraction.english.tokens import word_set, words


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property and its value in a statement.

    `key` names it among a user's facts. `denied`: the statement says it is not `value`.
    """

    key: str
    value: str
    denied: bool = False


# Attributes of the user; others name whose they are in their key.
USERS_OWN = word_set("name age home hometown job employer birthday partner relationship diet")
NATIONALITIES = word_set(
    """american argentinian australian austrian belgian brazilian british bulgarian canadian
    chilean chinese colombian croatian cuban czech danish dutch egyptian english estonian
    ethiopian finnish french german greek hungarian icelandic indian indonesian iranian
    iraqi irish israeli italian japanese kenyan korean latvian lebanese lithuanian
    mexican moroccan nigerian norwegian pakistani persian peruvian polish portuguese
    romanian russian scottish serbian slovak spanish swedish swiss syrian taiwanese thai
    tunisian turkish ukrainian vietnamese welsh catholic christian jewish muslim hindu
    buddhist protestant european african asian"""
)
PROFESSIONS = (
    r"(?:\w+ )?(?:accountant|actor|actress|architect|artist|assistant|baker|barber|biologist"
    r"|carpenter|chef|chemist|cook|dentist|designer|developer|doctor|driver|economist|editor"
    r"|electrician|engineer|farmer|firefighter|gardener|hairdresser|historian|journalist|judge"
    r"|lawyer|lecturer|librarian|manager|mechanic|midwife|musician|nurse|painter|paramedic"
    r"|pharmacist"
    r"|photographer|physicist|physiotherapist|pilot|plumber|police officer|policeman|postman"
    r"|professor|programmer|psychologist|researcher|sailor|scientist|secretary|singer|social worker"
    r"|soldier|student|surgeon|tailor|teacher|therapist|translator|vet|veterinarian|waiter|waitress"
    r"|writer)"
)
PARTNER = r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[e\u00e9]e?|spouse)"
OWN_NOUNS = (
    r"(?:age|job|profession|occupation|employer|birthday|phone number|mobile number|e-?mail"
    r"|e-?mail address"
    r"|address|shoe size|height|weight|blood type|zodiac sign|native language|mother tongue"
    r"|nationality|religion|hometown|home town|salary|nickname|surname|last name|middle name"
    r"|wedding anniversary|anniversary|licen[cs]e plate)"
)
HERE = r"(?:now |currently |still |both |actually |just |recently |also )*"
NOT = r"(?:don't |do not |no longer |not )?"
DENIAL = re.compile(r"\b(?:don't|do not|no longer|not)\b", re.IGNORECASE)
# A quick look: no sentence without one of these is a denial.
MAY_DENY = re.compile(
    r"\b(?:don['\u2019]?t|not|no longer|any ?more|any longer|quit|left)\b", re.IGNORECASE
)
LOVES = (
    r"(?:really |absolutely |also |still |just |now |actually |do |never )*"
    r"(?:don't |do not |doesn't |does not |no longer |can't |cannot |can not |could not |couldn't "
    r"|didn't |did not )?(?:really )?(?:loves?|likes?|enjoys?|adores?|hates?|dislikes?|detests?"
    r"|loathes?|stand"
    r"|(?:am |is |are )?(?:not )?(?:a |an )?(?:big |huge )?(?:fan|fond) of)"
)
TAIL = (
    r"(?= with | because | since | for | as | and | but | which | who | & |,|;| these days"
    r"| at the moment| any ?more| any longer| now| last | next | yesterday| in \d{4}|$)"
)

# In order: the first that matches names the attribute.
PATTERNS = tuple(
    (re.compile(pattern + ("$" if "{v}" in key else TAIL), re.IGNORECASE), key)
    for pattern, key in (
        (rf"^my (?:full |first |real )?name is {NOT}(?P<v>.+?)", "name"),
        (r"^(?:you can |people |friends |please |just )?call me (?P<v>.+?)", "name"),
        (rf"^i am {HERE}(?P<v>\d{{1,3}})(?: years old| yrs?)?", "age"),
        (r"^i (?:just |recently )?turned (?P<v>\d{1,3})", "age"),
        (
            rf"^(?:i|we) {HERE}{NOT}(?:live|am living|are living) (?:in|at|near|on) (?P<v>.+?)",
            "home",
        ),
        (rf"^(?:i|we) {HERE}(?:moved|have moved)(?: from .+?)? to (?P<v>.+?)", "home"),
        (rf"^(?:i|we) have {HERE}(?:been living|lived) (?:in|at|near) (?P<v>.+?)", "home"),
        (rf"^(?:i am|we are) {HERE}{NOT}(?:based|living) (?:in|at|near) (?P<v>.+?)", "home"),
        (rf"^i (?:am {HERE}{NOT}(?:originally )?|{NOT}come )from (?P<v>.+?)", "hometown"),
        (r"^my home ?town is (?P<v>.+?)", "hometown"),
        (r"^(?:my birthday is (?:on )?|i was born on )(?P<v>.+?)", "birthday"),
        (rf"^i (?:{HERE}{NOT}work|am {HERE}{NOT}working) as (?:an? |the )?(?P<v>.+?)", "job"),
        (
            rf"^i am {HERE}{NOT}(?:an? |the )(?P<v>{PROFESSIONS})(?: at .+| for .+| in .+| by .+)?",
            "job",
        ),
        (r"^my (?:job|profession|occupation) is (?P<v>.+?)", "job"),
        (
            rf"^i (?:{HERE}{NOT}work|am {HERE}{NOT}working) (?:at|for) "
            r"(?!night|home|weekends|the moment|myself)(?P<v>.+?)",
            "employer",
        ),
        (r"^my employer is (?P<v>.+?)", "employer"),
        (
            rf"^i am {HERE}{NOT}(?P<v>married|single|divorced|widowed|engaged|in a relationship)",
            "relationship",
        ),
        (rf"^i am {HERE}{NOT}(?:an? )?(?P<v>vegan|vegetarian|pescatarian)", "diet"),
        (rf"^(?:my (?P<x>{PARTNER})(?:'s name)? is (?:called |named )?)(?P<v>[A-Z]\w+)", "partner"),
        (
            r"^my (?P<x>[\w' -]{2,40}?)(?:'s name)? is (?:not )?(?:called |named )(?P<v>.+?)",
            "{x} name",
        ),
        (r"^my (?P<x>[\w' -]{2,40}?)'s name is (?:not )?(?P<v>.+?)", "{x} name"),
        (r"^the name of my (?P<x>[\w' -]{2,40}?) is (?P<v>.+?)", "{x} name"),
        (r"^my (?P<x>favou?rite [\w' -]{2,30}?) (?:is|are) (?P<v>.+?)", "{x}"),
        (rf"^my (?P<x>{OWN_NOUNS}) is (?P<v>.+?)", "{x}"),
        (
            rf"^(?:my )?(?P<x>[\w -]{{2,40}}?'s (?:{OWN_NOUNS}|name|favou?rite [\w -]{{2,30}}?)) "
            r"(?:is|was) (?P<v>.+?)",
            "{x}",
        ),
        (rf"^(?P<x>i|we|my [\w'-]+(?: [\w'-]+)?) {LOVES} (?P<v>.+?)", "{x} feel about {v}"),
    )
)
OUR = re.compile("^our ", re.IGNORECASE)
# Case tells a name from a word.
SOMEBODY_IS = re.compile(r"^(My [\w -]{2,40}?)'s (?=called |named |[A-Z])")
LEFT = re.compile(
    r"^i (?:just |recently |have )?(?:quit|left) (?!\w+ing\b)(?:my (?:job|position) )?(?:at "
    r"|with )?(?P<v>.+)",
    re.I,
)
NAME_ONLY = re.compile(r"^I am (?!OK\b)(?P<v>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2})(?:, .+)?$")
NO_MORE = re.compile(
    r",? (?:any ?more|any longer|now|these days|very much|so much|a lot|at all|too|anyway"
    r"|more than anything|to bits|again)$",
    re.IGNORECASE,
)
NO_MORE_LEFT = re.compile(r"\b(?:any ?more|any longer)\b", re.IGNORECASE)
# Of several things one likes, another statement may name one alone: it replaces nothing.
SEVERAL = re.compile(r",|;| and | or | but |\band$", re.IGNORECASE)
LONGEST_OBJECT = 4


def attribute_of(statement: str) -> Attribute | None:
    """The attribute that `statement` (without lead-in) gives a value, or None."""
    plain = _comparable(OPENING.sub("", statement))
    named = NAME_ONLY.match(plain)
    if named:
        return _named(named["v"])
    gone = LEFT.match(plain)
    if gone:
        return Attribute("employer", gone["v"], denied=True)
    for pattern, key in PATTERNS:
        if found := pattern.match(plain):
            before = plain[: found.start("v")]
            denied = bool(DENIAL.search(before) or NO_MORE_LEFT.search(plain))
            return _filled(key, found.groupdict(), denied=denied)
    return None


def denial_in(sentence: str) -> Attribute | None:
    """The attribute whose value `sentence` denies, or None."""
    if not MAY_DENY.search(sentence):
        return None
    found = attribute_of(strip_lead_in(sentence))
    return found if found is not None and found.denied else None


def _comparable(statement: str) -> str:
    """`statement` as PATTERNS take it: "I am", "we are", "My sister is called"."""
    text = expand_first_person(restore_apostrophes(statement).rstrip(" .!\u2026"))
    return SOMEBODY_IS.sub(r"\1 is ", OUR.sub("My ", text))


def _named(name: str) -> Attribute | None:
    known = all(word not in NATIONALITIES for word in words(name))
    return Attribute("name", name) if known else None


def _filled(key: str, parts: dict[str, str | None], *, denied: bool) -> Attribute | None:
    value = NO_MORE.sub("", parts["v"] or "").strip()
    subject = " ".join(words(parts.get("x") or ""))
    if "{v}" in key:
        about = " ".join(words(value))
        if not about or len(about.split()) > LONGEST_OBJECT or SEVERAL.search(value):
            return None
        return Attribute(key.format(x=subject, v=about), value)
    return Attribute(key.format(x=subject), value, denied)
