"""Normalisation of English wording: missing apostrophes, contractions and filler words."""

import re

from agent.extraction.english.tokens import word_set, words

# Words that change nothing about what is stated, whenever it is stated.
FILLERS = word_set("just really actually also currently now well oh quite")
# And these change nothing beside a fuller statement in the same message. A day later "I still
# smoke", "I am too old" and "I am the boss" say something of their own.
REPETITION_FILLERS = FILLERS | word_set("a an the very so too still always and")

MISSING_APOSTROPHES = (
    (re.compile(r"^(i)(m|ve)\b(?=\s+[a-z])", re.IGNORECASE), r"\1'\2"),
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|ca|wo)nt\b", re.IGNORECASE), r"\1n't"),
)
# The ending of a contraction written out; "'s" and "'d" stand for several words.
ENDINGS = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "n't": " not"}
IRREGULAR = {"can't": "can not", "cannot": "can not", "won't": "will not"}
ENDING = "|".join(ENDINGS)
CONTRACTION = re.compile(
    rf"\b(?:(?P<whole>{'|'.join(IRREGULAR)})|(?P<head>\w+?)(?P<ending>{ENDING}))\b", re.IGNORECASE
)
FIRST_PERSON = re.compile(r"\b(?P<head>I|we)(?P<ending>'m|'re|'ve)\b", re.IGNORECASE)


def restore_apostrophes(text: str) -> str:
    """`text` with straight apostrophes, and those that people leave out: "im", "ive", "dont"."""
    plain = text.replace("\u2019", "'")
    for pattern, full in MISSING_APOSTROPHES:
        plain = pattern.sub(full, plain)
    return plain


def expand_contractions(text: str) -> str:
    """`text`, with straight apostrophes, and its contractions as words of their own.

    >>> expand_contractions("I'm sure we can't.")
    'I am sure we can not.'
    """
    return CONTRACTION.sub(_expanded, text)


def expand_first_person(text: str) -> str:
    """`text` with "I'm", "I've", "we're" and "we've" as two words, and nothing else changed."""
    return FIRST_PERSON.sub(lambda found: _pronoun(found["head"]) + _ending(found["ending"]), text)


def normalized_words(text: str, fillers: frozenset[str] = FILLERS) -> list[str]:
    """The words of `text` in order, in lower case, contractions expanded, without `fillers`."""
    plain = expand_contractions(restore_apostrophes(text))
    return [word for word in words(plain) if word not in fillers]


def _expanded(found: re.Match[str]) -> str:
    if found["whole"]:
        return IRREGULAR[found["whole"].lower()]
    head: str = found["head"]
    return head + _ending(found["ending"])


def _ending(ending: str) -> str:
    return ENDINGS[ending.lower()]


def _pronoun(head: str) -> str:
    return "I" if head in ("i", "I") else head.lower()
