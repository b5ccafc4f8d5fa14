"""Sentences of a message that are the user's own, and none but those."""

import pytest
from hypothesis import given
from hypothesis.strategies import integers, text

from agent.extraction.english.sentences import holds_words, pieces, sentences


@pytest.mark.parametrize(
    ("message", "own"),
    [
        ("I ski. I run.", ["I ski.", "I run."]),
        (
            "\u4f60\u597d\uff01\u6211\u4f4f\u5728\u5317\u4eac\u3002",
            ["\u4f60\u597d\uff01", "\u6211\u4f4f\u5728\u5317\u4eac\u3002"],
        ),
        ("I do yoga, etc. Then I run.", ["I do yoga, etc.", "Then I run."]),
        ("I get up at 6 a.m. every day.", ["I get up at 6 a.m. every day."]),
        ("It prints `a. b` now. I ski.", ["It prints `a. b` now.", "I ski."]),
        ("I ski.<br>I run.", ["I ski.<br>I run."]),
        ("I <3 skiing. I run.", ["I <3 skiing.", "I run."]),
        ("<doc>I swim.</doc> I ski.", ["I ski."]),
        ("<doc>\nI swim.\nI ski.", []),
    ],
)
def test_sentences_are_told_apart(message: str, own: list[str]) -> None:
    assert list(sentences(message)) == own


@pytest.mark.parametrize(
    ("sentence", "enough"),
    [
        ("Hi", False),
        ("Hi there", True),
        ("\u4f60\u597d", False),
        ("\u6211\u4f4f\u5728\u5317\u4eac", True),
        ("", False),
    ],
)
def test_a_sentence_is_long_enough_in_any_script(sentence: str, enough: bool) -> None:
    assert holds_words(sentence) is enough


def test_a_long_sentence_is_cut_where_it_pauses() -> None:
    assert list(pieces("I own a boat, and I live on it, I think", 30)) == [
        "I own a boat, and I live on it",
        "I think",
    ]


@given(text(), integers(8, 40))
def test_pieces_are_short_and_hold_every_character_that_counts(sentence: str, longest: int) -> None:
    parts = list(pieces(sentence, longest))
    assert all(len(part) <= longest for part in parts)
    left_out = set(" ,;\u3001\uff0c\uff1b")
    ours, theirs = (
        "".join(c for c in t if c not in left_out and not c.isspace())
        for t in ("".join(parts), sentence)
    )
    assert ours == theirs
