"""Whom a statement is about."""

import pytest

from agent.extraction.english.subjects import USER, subject_of


@pytest.mark.parametrize(
    ("statement", "subject"),
    [
        ("my friend Jack doesn't like football", "jack"),
        ("My friend I met in Rome is a nurse", "friend"),
        ("My best friend is a nurse", "best friend"),
        ("Both of my parents are farmers", "parents"),
        ("My sister's husband is Swiss", "sister"),
        ("My mother-in-law paints", "mother-in-law"),
        ("The birthday of my aunt is 3 May", "aunt"),
        ("Anna Smith is a friend of mine", "anna smith"),
        ("Biscuit is my dog", "biscuit"),
        ("My brother and I ski", USER),
        ("My car is a red Volvo", USER),
        ("My family name is Meier", USER),
        ("Pizza is my favourite", USER),
        ("I have a brother called Tom", USER),
        ("In 2019 we moved to Oslo", USER),
    ],
)
def test_the_subject_is_the_user_or_whom_the_user_names(statement: str, subject: str) -> None:
    """mem0#1528."""
    assert subject_of(statement) == subject
