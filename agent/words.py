"""The words of a text that carry its content."""

import re

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*", re.UNICODE)


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(text.split())


FUNCTION_WORDS = word_set(
    """a an the this that these those i me my mine myself we us our ours you your yours he him
    his she her hers it its they them their theirs one ones who whom whose which what where when
    am is are was were be been being do does did done have has had having will would shall should
    can could may might must not no nor and or but if then so than as of at by for from in into on
    onto to with about over under up down out off again also very just too i'm i've i'd i'll it's
    that's there's here there any some s"""
)


def words(text: str) -> list[str]:
    """The words of `text` in order, in lower case, without a possessive 's."""
    found = (w.casefold().replace("\u2019", "'") for w in WORD.findall(text))
    return [w.removesuffix("'s") for w in found]


def content_words(text: str) -> frozenset[str]:
    """The words of `text` that are not function words."""
    return frozenset(w for w in words(text) if w not in FUNCTION_WORDS)
