"""Subjects of statements: the user, or somebody in the user's life."""

import re

USER = ""
RELATIONS = (
    r"(?:friends?|mates?|bud(?:dy|dies)|mother|mom|mum|mommy|mummy|father|dad|daddy|parents?"
    r"|brothers?|sisters?|siblings?|twins?|sons?|daughters?|kids?|child(?:ren)?|bab(?:y|ies)|boys?"
    r"|girls?|wife|husband|partner|girlfriend|boyfriend|fianc[e\u00e9]e?|spouse|ex|uncles?|aunts?"
    r"|aunt(?:ie|y)|cousins?|nephews?|nieces?|grand(?:mother|father|ma|pa|mom|dad|parents?|sons?"
    r"|daughters?|kids?|child(?:ren)?)|granny|nan|family|relatives|boss(?:es)?|colleagues?"
    r"|co-?workers?|neighbou?rs?|teachers?|professors?|doctors?|dentists?|therapists?|roommates?"
    r"|flatmates?|housemates?|landlord|landlady|classmates?|teammates?|coach(?:es)?|trainers?"
    r"|managers?|clients?|students?|(?:\w+-in-law)|step\w+|dogs?|pupp(?:y|ies)|cats?|kittens?|pets?"
    r"|horses?|pon(?:y|ies)|rabbits?|bunn(?:y|ies)|hamsters?|birds?|parrots?|turtles?|tortoises?"
    r"|fish|snakes?|lizards?|chickens?|goats?|cows?|guinea\s+pigs?|ferrets?)"
)
NAME = r"(?!I\b)[A-Z][\w-]+(?: (?!I\b)[A-Z][\w-]+)?"
# The user with somebody is the user.
OWNED = re.compile(
    rf"^(?i:(?:(?:both|one|two|three|all|most|some)\s+(?:of\s+)?)?(?:my|our)\s+"
    rf"(?P<kin>(?:[\w-]+\s+){{0,3}}?{RELATIONS})\b(?!-|\s+(?:names?|tree|home|house|business)\b)(?P<with>\s+and\s+(?:i|me|myself)\b)?)"
    rf"(?:,?\s+(?P<name>{NAME}))?",
)
NAME_OF = re.compile(
    rf"^the\s+\w+\s+of\s+(?:my|our)\s+(?P<kin>(?:[\w-]+\s+){{0,2}}?{RELATIONS})\b", re.IGNORECASE
)
NAMED = re.compile(
    rf"^(?P<name>{NAME})(?:['\u2019]s\s+\w+\s+(?:is|was)\b"
    rf"|\s+(?:is|was)\s+(?:(?:one\s+of\s+)?(?:my|our)\s+(?:[\w-]+\s+){{0,2}}?{RELATIONS}\b"
    rf"|a\s+friend\s+of))"
)


def subject_of(statement: str) -> str:
    """The name, in lower case, of the subject of `statement`; USER, empty, for the user.

    `statement` is English, without lead-in. Without a name it is what the user calls them:
    "My older sister is a nurse" is about "older sister".
    """
    owned = OWNED.match(statement)
    if owned and owned["with"]:
        return USER
    if owned:
        return (owned["name"] or owned["kin"]).casefold()
    if of := NAME_OF.match(statement):
        return of["kin"].casefold()
    named = NAMED.match(statement)
    return named["name"].casefold() if named else USER
