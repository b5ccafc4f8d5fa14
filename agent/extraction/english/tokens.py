"""Tokenisation into words: content words, function words and negations."""

import re

# Scripts that write no spaces between words, and Hangul, which joins particles to them.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:['\u2019][^\W_{UNSPACED}]+)*")


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
NEGATIONS = word_set(
    """not no never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't
    aren't wasn't weren't won't hasn't haven't hadn't wouldn't couldn't shouldn't ain't dont
    doesnt didnt isnt arent wasnt cant wont havent hasnt hardly barely"""
)


def words(text: str) -> list[str]:
    """The words of `text` in order, in lower case, without a possessive 's.

    Where words are not set apart by spaces, as in Chinese, every character is one.
    """
    found = (w.casefold().replace("\u2019", "'") for w in WORD.findall(text))
    return [w.removesuffix("'s") for w in found]


def content_words(text: str) -> frozenset[str]:
    """The words of `text` that are not function words."""
    return frozenset(w for w in words(text) if w not in FUNCTION_WORDS)


def negations(text: str) -> int:
    """The number of negating words in `text`."""
    return sum(word in NEGATIONS for word in words(text))
