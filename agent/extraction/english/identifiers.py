"""Comparison of statements by numbers and names, which vectors hardly tell apart.

"I rent flat 12" and "I rent flat 21" are nearly one vector, and two facts.
"""

import re

from agent.extraction.english.tokens import FUNCTION_WORDS, WORD, negations, word_set

NUMBER_WORDS = word_set(
    """two three four five six seven eight nine ten eleven twelve thirteen twenty thirty forty
    fifty hundred thousand first second third fourth fifth once twice"""
)
CHANGE = re.compile(
    r"""\b(?:now | nowadays | no\ longer | any\ ?more | any\ longer | instead | moved? | changed?
      | switch(?:ed)? | replaced? | new | since | these\ days | quit | left | stopped | started
      | actually | used\ to | not | \w+n['\u2019]t | never)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def identifiers(text: str) -> frozenset[str]:
    """The numbers and names in `text`, in lower case.

    A name is a word with a capital that is no function word. The first word of a text may
    be none; counting it keeps statements apart that could have been merged, not the reverse.
    """
    return frozenset(
        word.casefold()
        for word in WORD.findall(text)
        if any(c.isdigit() for c in word)
        or word.casefold() in NUMBER_WORDS
        or (word[0].isupper() and word.casefold() not in FUNCTION_WORDS)
    )


def may_repeat(text: str, known: str) -> bool:
    """Whether `text` can be one more way to say `known`: it names nothing that is new."""
    return identifiers(text) <= identifiers(known) and negations(text) == negations(known)


def may_update(text: str, known: str) -> bool:
    """Whether `text` can tell `known` in more detail: it names all that is named there."""
    return identifiers(known) <= identifiers(text) and negations(text) == negations(known)


def may_replace(text: str, known: str) -> bool:
    """Whether `text` can be what holds instead of `known`.

    Where they name different things, the user's words have to say that something changed.
    """
    return identifiers(text) == identifiers(known) or bool(CHANGE.search(text))
