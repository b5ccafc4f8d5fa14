"""Characters removed from text at the edge, and those that stay."""

import pytest
from hypothesis import given
from hypothesis.strategies import characters, text

from agent.text import storable


@pytest.mark.parametrize(
    ("given_text", "stored"),
    [
        ("a\ud800b", "ab"),
        ("\udc36", ""),
        ("\ud83d\udc36", "\U0001f436"),
        ("\udc36\ud83d", ""),
        ("a\x00b", "ab"),
        (
            "\U0001f468\u200d\U0001f469\u200d\U0001f467",
            "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        ),
        ("\U0001f1e8\U0001f1ed", "\U0001f1e8\U0001f1ed"),
        ("\u4f60\u597d", "\u4f60\u597d"),
    ],
)
def test_lone_surrogates_go_and_emoji_stay(given_text: str, stored: str) -> None:
    """hindsight#4, MemOS#1048, simonw/llm#546, mem0#4540."""
    assert storable(given_text) == stored


@given(text(characters(categories=["Cs", "Cc", "L", "So"])))
def test_whatever_is_stored_can_be_encoded(anything: str) -> None:
    storable(anything).encode()
    assert "\x00" not in storable(anything)


@given(text(characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_text_that_can_be_stored_stays_as_it_is(anything: str) -> None:
    assert storable(anything) == anything
