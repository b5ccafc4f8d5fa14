"""A sentence is taken apart where each part stands for itself, and nowhere else."""

import pytest

from agent.extraction.english.clauses import clauses
from agent.extraction.rule_extractor import statements_in


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("I'm Anna and I live in Bern.", ["I'm Anna", "I live in Bern."]),
        ("My wife and I live in Bern.", ["My wife and I live in Bern."]),
        ("I like golf, but I might stop.", ["I like golf", "I might stop."]),
        ("I like golf and your jokes.", ["I like golf", "your jokes."]),
        ("My sister is a nurse, she lives in Rome.", ["My sister is a nurse, she lives in Rome."]),
        ("I left Rome but now I live in Bern.", ["I left Rome", "now I live in Bern."]),
        ("I have a cat and it is old.", ["I have a cat and it is old."]),
        ("If I ski and I fall, I cry.", ["If I ski and I fall, I cry."]),
        ("I don't like tea, coffee and milk.", ["I don't like tea, coffee and milk."]),
    ],
)
def test_clauses_are_parted(sentence: str, parts: list[str]) -> None:
    assert clauses(sentence) == parts


def test_what_is_unsure_is_left_out_and_the_rest_stays() -> None:
    facts = [c.text for c in statements_in("I like golf, but I might stop. Maybe I have a cat.")]
    assert facts == ["I like golf."]
