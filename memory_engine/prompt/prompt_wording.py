"""Static words of the prompts that carry memories, chosen by measurement (DECISIONS.md).

Facts are kept in the user's own words and turned to the second person here, for the prompt
alone: a small model told "My dog ..." by a system message takes the dog for its own.
"""

import re
from calendar import month_name

from memory_engine.types import MemoryFact

SYSTEM = "You are a helpful assistant."
FACTS_HEADER = " The user told you:\n"
TAIL_END = "\n"

_PERSON = {
    "i am": "you are",
    "i'm": "you're",
    "i was": "you were",
    "am i": "are you",
    "was i": "were you",
    "i": "you",
    "i've": "you've",
    "i'd": "you'd",
    "i'll": "you'll",
    "my": "your",
    "mine": "yours",
    "me": "you",
    "myself": "yourself",
    "we": "you",
    "we're": "you're",
    "we've": "you've",
    "we'd": "you'd",
    "we'll": "you'll",
    "us": "you",
    "our": "your",
    "ours": "yours",
    "ourselves": "yourselves",
}
_FIRST_PERSON = re.compile(
    r"(?<![\w'])("
    + "|".join(re.escape(word) for word in sorted(_PERSON, key=len, reverse=True))
    + r")(?![\w'])",
    re.IGNORECASE,
)


def fact_line(fact: MemoryFact) -> str:
    """A fact as one line of the prompt, said to the user, with its date behind it."""
    text = second_person(" ".join(fact.text.split()))
    if fact.when is None:
        return f"- {text}\n"
    day = f"{fact.when.day} {month_name[fact.when.month]} {fact.when.year}"
    return f"- {text} ({day})\n"


def turn_line(turn: str) -> str:
    """A dialogue turn as one line of an encoding window."""
    return f"- {' '.join(turn.split())}\n"


def second_person(text: str) -> str:
    """`text` with first-person English words made second person; other text is unchanged."""
    return _FIRST_PERSON.sub(_reply_word, text)


def _reply_word(match: re.Match[str]) -> str:
    said, before = match[1], match.string[: match.start()].rstrip(" \"'(")
    if said in ("US", "ME", "WE"):
        # A country, a state or an abbreviation more often than a shouted pronoun.
        return said
    word = _PERSON[said.lower()]
    return word.capitalize() if not before or before[-1] in ".!?" else word
