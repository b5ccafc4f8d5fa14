"""How a statement is worded as a fact. The one place to change it."""

import re

from agent.text import one_line

LONE_I = re.compile(r"\bi(?=[\s,;!?'\u2019]|$)")


def as_fact(statement: str) -> str:
    """The user's own words as one sentence: a capital first, a full stop last.

    >>> as_fact("my  dog is called Biscuit!!")
    'My dog is called Biscuit.'
    """
    text = LONE_I.sub("I", one_line(statement)).rstrip(" .!,;:\u2026")
    return f"{text[:1].upper()}{text[1:]}." if text else ""
