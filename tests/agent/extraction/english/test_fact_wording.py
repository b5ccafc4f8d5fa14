"""A statement becomes a fact in the user's own words and language."""

import pytest

from agent.extraction.english.fact_wording import as_fact


@pytest.mark.parametrize(
    ("statement", "fact"),
    [
        ("my  dog is called Biscuit!!", "My dog is called Biscuit."),
        ("my wife and i live in Bern", "My wife and I live in Bern."),
        ("i'm a nurse", "I'm a nurse."),
        ("mam psa i kota", "Mam psa i kota."),
        ("vivo con i miei", "Vivo con i miei."),
        ("\u6211\u4f4f\u5728\u5317\u4eac\uff01", "\u6211\u4f4f\u5728\u5317\u4eac\u3002"),
        ("I love \U0001f436", "I love \U0001f436."),
        (" .. ", ""),
    ],
)
def test_only_case_spaces_and_the_final_mark_change(statement: str, fact: str) -> None:
    """mem0#3707."""
    assert as_fact(statement) == fact
