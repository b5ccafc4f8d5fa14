"""Facts are said to the user: first person becomes second, everything else stays."""

from datetime import date

import pytest

from memory_engine.prompt.prompt_wording import fact_line, second_person
from memory_engine.types import MemoryFact


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My dog is called Biscuit.", "Your dog is called Biscuit."),
        ("I am from the US.", "You are from the US."),
        ("I'm allergic to nuts and I've a cat.", "You're allergic to nuts and you've a cat."),
        ("Ana gave me a book. We love our garden.", "Ana gave you a book. You love your garden."),
        ("The blue mug is mine, I made it myself.", "The blue mug is yours, you made it yourself."),
        ("Mia mixes wine in Miami.", "Mia mixes wine in Miami."),
        ("我喜欢狗。", "我喜欢狗。"),
    ],
)
def test_first_person_becomes_second(said: str, told: str) -> None:
    assert second_person(said) == told


def test_a_line_has_the_date_behind_the_text_and_no_line_break_inside() -> None:
    fact = MemoryFact("f", "My dog\nis called  Biscuit.", date(2026, 11, 8))
    assert fact_line(fact) == "- Your dog is called Biscuit. (8 November 2026)\n"
    assert fact_line(MemoryFact("f", "I ski.")) == "- You ski.\n"
