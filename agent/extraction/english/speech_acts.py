"""Detects questions, requests, hypotheticals and meta-talk, which yield no facts."""

import re

QUESTION_MARK = re.compile(r"[?\uff1f\u061f][\"')\u201d\u300d\s]*$")
# Questions without their mark, and what the assistant is asked to do.
ASKED = re.compile(
    r"""^(?:(?:please|now|then|also|and|so|ok(?:ay)?)\b[\s,]*)*(?:
        how\s+(?:to|do|does|did|can|could|should|would|much|many|long|is|are|come|about)\b
      | what(?:'s|\s+(?:is|are|was|were|do|does|did|should|can|would|time|kind|about|if)\b)
      | (?:why|where|who|which|when|whose)\s+(?:is|are|was|were|do|does|did|can|could|should|would
        |will|has|have)\b
      | (?:do|does|did|is|are|was|were|can|could|will|would|has|have|should|may)\s+
        (?:i|you|we|they|he|she|it|there|this|that|my|your|the|any\w*)\b
      | (?:tell|show|give|write|make|explain|describe|list|find|help|translate|summari[sz]e|fix
        |draft|suggest|recommend|compare|calculate|convert|create|generate|plan|book|order|set
        |remind|search|look|check|repeat|rewrite|rephrase|continue|define|answer|ask|send|open
        |read|play|act|teach|compose|solve|debug|implement|let\s+(?:me|us)|let's|imagine|pretend
        |suppose)\b
        (?!['\u2019]s\b)(?!\s+(?:is|was)\b)
      | (?:remember|remind|don't\s+forget)\s+to\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# What somebody else is said to have said, or know, of the user; and the shape of a record.
ECHO = re.compile(
    r"""\b(?:you|the\s+(?:assistant|ai|bot|model))\s+(?:(?:just|once|already|have|had|also)\s+)*
        (?:said|told|mentioned|remember(?:ed)?|recall(?:ed)?|noted|wrote|claimed|stored|saved
        |called)\b
      | ^(?:the\s+)?user(?:'s)?\s | ^[\u4f60\u60a8](?!\u597d|\u53ef\u4ee5\u53eb)
      | ^(?:you|your|you're)\b(?!\s+can\s+call\s+me)
      | ^(?:as\s+an?\s+(?:ai|assistant|language\s+model)\b|the\s+assistant\b)""",
    re.IGNORECASE | re.VERBOSE,
)
# Holds for the whole sentence.
SUPPOSED = re.compile(
    r"""\b(?:if|unless|imagine|suppose|supposing|pretend|assume|assuming|hypothetical(?:ly)?
      |let's\s+say|role-?play
      |in\s+(?:my|the|this|a)\s+(?:dream|story|novel|scenario|game|poem))\b""",
    re.IGNORECASE | re.VERBOSE,
)
# Holds for the clause it is in.
UNSURE = re.compile(
    r"\b(?:whether|would|could|might|maybe|perhaps|(?<!is\s)(?<!are\s)probably|should|shall|wish"
    r"|hope|guess|i(?:'d|\s+had\s+better))\b",
    re.IGNORECASE,
)
TASK_NOUNS = (
    r"(?:questions?|problems?|issues?|ideas?|points?|guess|doubts?|requests?|favou?rs?|headache"
    r"|feeling|hunch|suggestions?|tasks?|errors?|bugs?|messages?|code|script|function|files?|lists?"
    r"|prompts?|inputs?|outputs?|texts?|sentences?|paragraphs?|documents?|data|dataset|thoughts"
    r"|opinion|understanding|query|answers?|bad|apologies|mistakes?|turn|example|meaning|pleasure"
    r"|warnings?|commands?|tests?|typos?|look|arrays?|variables?|strings?|chats?|options?)"
)
ABOUT_A_TASK = re.compile(
    rf"^(?:i|we)(?:'ve|\s+(?:have|had|got|get|made|see|saw|wrote|ran|read|used|added|changed))\s+"
    rf"(?:got\s+)?(?:(?:an?|the|some|this|another|one|two|no|my)\s+)?(?:[\w-]+\s+)?{TASK_NOUNS}\b"
    rf"|^(?:my|our)\s+(?:[\w-]+\s+){{0,2}}{TASK_NOUNS}\s+[a-z]",
    re.IGNORECASE,
)
# "Your jokes" are not the user's.
TO_THE_ASSISTANT = re.compile(
    r"\b(?:your|yours|yourself)\b|\byou\b(?!\s+can\s+call)", re.IGNORECASE
)
# "I love it" says nothing once the sentence before it is gone.
POINTS_ELSEWHERE = re.compile(
    r"""^(?:i|we)(?:'\w+)?\s+(?:(?!and\b|but\b)[\w']+\s+){1,5}?
        (?:(?:it|them|those|these|him|there)\b|ones?[\s.!]*$)
      | ^(?:i|we)(?:'\w+)?\s+(?:(?!and\b|but\b)[\w']+\s+){1,3}?(?:of\s+)?
        (?:that|this|her|his|hers|their|theirs)\b(?<!\bso\sthat)
      | ^(?:i|we)(?:'ve|\s+(?:have|had|like|love|want))\s+(?:got\s+)?
        (?:one|two|three|four|five|\d+|some|many|several|both|an?\s+(?:few|couple|lot))
        (?:\s+(?:favou?rites?|too|myself))?[\s.!]*$
      | \b(?:is|are|am|was|were|called|named|an?|the|my|our|and)[\s.!]*$
      | \bof\s+(?:it|them|those|these)[\s.!]*$ | \b(?:those|these)\s+things\b
      | ^(?:it|that|this|these|those|they|he|she|there)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def states_nothing(sentence: str) -> bool:
    """Whether `sentence` is a question, a request, a supposition or an echo of the assistant.

    It reads English and, in other languages, question marks.
    """
    plain = sentence.replace("\u2019", "'").strip()
    return any(pattern.search(plain) for pattern in (QUESTION_MARK, ASKED, ECHO, SUPPOSED))


def lacks_context(clause: str) -> bool:
    """Whether `clause` (English) is unsure, or says something only beside what came before."""
    return is_unsure(clause) or any(p.search(clause) for p in (ABOUT_A_TASK, POINTS_ELSEWHERE))


def is_unsure(clause: str) -> bool:
    """Whether `clause` (English) is unsure, or said to the assistant."""
    return any(p.search(clause) for p in (UNSURE, TO_THE_ASSISTANT))
