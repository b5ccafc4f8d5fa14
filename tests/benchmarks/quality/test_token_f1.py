"""Token F1 as LoCoMo scores it, by hand."""

import pytest

from benchmarks.quality.datasets.locomo import MULTI_HOP, OPEN_DOMAIN, SINGLE_HOP, TEMPORAL
from benchmarks.quality.token_f1 import answer_f1, token_f1


def test_case_punctuation_articles_and_endings_do_not_count() -> None:
    assert token_f1("She was walking the dogs!", "she was walked a dog") == 1.0
    assert token_f1("Bread and butter.", "bread, butter") == 1.0


def test_half_of_the_words() -> None:
    # 1 of 3 said, 1 of 2 wanted.
    assert token_f1("a red old bike", "blue bike") == pytest.approx(2 * 1 / (3 + 2))


def test_a_word_counts_as_often_as_both_say_it() -> None:
    assert token_f1("no no no", "no") == pytest.approx(2 * 1 / (3 + 1))


def test_nothing_in_common_or_nothing_at_all_is_nothing() -> None:
    assert token_f1("cello", "goat") == 0.0
    assert token_f1("", "goat") == 0.0
    assert token_f1("the", "a") == 0.0


def test_several_answers_take_the_best_part_of_the_reply_each() -> None:
    reply, gold = "two goats, a cello", "goats, bike"
    goats = 2 * 1 / (2 + 1)
    assert answer_f1(reply, gold, MULTI_HOP) == pytest.approx((goats + 0.0) / 2)
    assert answer_f1(reply, gold, SINGLE_HOP) == pytest.approx(2 * 1 / (3 + 2))


def test_reasons_behind_the_semicolon_are_not_wanted() -> None:
    assert answer_f1("Yes", "Yes; she keeps goats", OPEN_DOMAIN) == 1.0
    assert answer_f1("Yes", "Yes; she keeps goats", TEMPORAL) < 1.0
