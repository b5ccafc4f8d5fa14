"""Whom a statement is about."""

import pytest

from agent.subjects import subject_of


@pytest.mark.parametrize(
    ("statement", "subject"),
    [
        ("my friend Jack doesn't like football", "Jack"),
        ("My friend I met in Rome is a nurse", "friend"),
        ("My best friend is a nurse", "best friend"),
        ("Both of my parents are farmers", "parents"),
        ("My sister's husband is Swiss", "sister"),
        ("My mother-in-law paints", "mother-in-law"),
        ("The birthday of my aunt is 3 May", "aunt"),
        ("Anna Smith is a friend of mine", "Anna Smith"),
        ("Biscuit is my dog", "Biscuit"),
        ("My brother and I ski", "user"),
        ("My car is a red Volvo", "user"),
        ("My family name is Meier", "user"),
        ("Pizza is my favourite", "user"),
        ("I have a brother called Tom", "user"),
        ("In 2019 we moved to Oslo", "user"),
    ],
)
def test_the_subject_is_the_user_or_whom_the_user_names(statement: str, subject: str) -> None:
    """mem0#1528."""
    assert subject_of(statement) == subject
