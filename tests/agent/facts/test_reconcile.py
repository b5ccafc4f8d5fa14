"""Candidates change known facts as attributes, denials and the order of turns say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.entities import Denial, Fact
from agent.extraction.candidate import Candidate, Change
from agent.facts.reconcile import reconcile

NOW = datetime(2026, 5, 6, 7, 8, tzinfo=UTC)


def fact(
    number: int, text: str, attribute: str | None = None, age: int = 1, subject: str = ""
) -> Fact:
    said_at = NOW - timedelta(hours=age)
    return Fact(str(number), text, said_at.date(), said_at, attribute=attribute, subject=subject)


def denial(number: int, value: str) -> Fact:
    """The fact that the user does not live in `value`."""
    stated = fact(number, f"I don't live in {value} any more.")
    return replace(stated, denies=Denial("home", value))


def said(
    text: str,
    attribute: str | None = None,
    value: str = "",
    denied: bool = False,
    subject: str = "",
) -> Candidate:
    return Candidate(text, text, attribute, value, denied, subject=subject)


@pytest.mark.parametrize(
    "text",
    [
        "My dog is called Biscuit.",
        "my dog  is called biscuit",
        "MY DOG IS CALLED BISCUIT!",
        "My dog is actually called Biscuit.",
        "My dog is, well, called Biscuit.",
        "My dog is quite really called Biscuit.",
    ],
)
def test_a_known_statement_is_no_change_but_one_more_source(text: str) -> None:
    known = [fact(1, "My dog is called Biscuit."), fact(2, "I ski.")]
    assert reconcile(known, [said(text)], NOW) == [Change(said(text), ("1",), "repeat")]


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I code in C.", "I code in C++."),
        ("I rent flat 12.", "I rent flat 21."),
        ("My flight is LX 318.", "My flight is LX 381."),
        ("My phone number is 079 555 12 34.", "My phone number is 079 555 12 43."),
        ("I like tea.", "I don't like tea."),
        ("I moved to Bern.", "I moved from Bern."),
        ("My sister knows my brother.", "My brother knows my sister."),
        ("I feel \u2665.", "I feel \u2620."),
        ("I am old.", "I am too old."),
    ],
)
def test_statements_that_differ_in_what_they_say_are_two(known: str, new: str) -> None:
    assert reconcile([fact(1, known)], [said(new)], NOW) == [Change(said(new))]


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I'm quite tall.", "I am tall."),
        ("I am tall.", "Im really tall"),
        ("I dont smoke.", "I do not smoke."),
        ("I can\u2019t swim.", "I cannot swim."),
        ("We've moved.", "We have moved."),
        ("I won't move.", "I will not move."),
    ],
)
def test_a_contraction_or_a_filler_makes_no_other_statement(known: str, new: str) -> None:
    assert reconcile([fact(1, known)], [said(new)], NOW) == [Change(said(new), ("1",), "repeat")]


def test_a_statement_made_twice_is_added_once() -> None:
    """mem0#1674: adding the same text twice deletes it."""
    twice = [said("I ski."), said("i ski"), said("I actually ski.")]
    assert reconcile([], twice, NOW) == [Change(twice[0])]


def test_a_new_value_supersedes_the_old_one() -> None:
    known = [fact(1, "I live in Bern.", "home"), fact(2, "I ski.")]
    new = said("I moved to Zurich.", "home", "Zurich")
    assert reconcile(known, [new], NOW) == [Change(new, ("1",), "supersede")]


def test_love_then_hate_leaves_the_hate_active() -> None:
    """mem0#4536, #4580: the store ends empty."""
    known = [fact(1, "I love Chinese food.", "i feel about chinese food")]
    new = said("I hate Chinese food.", "i feel about chinese food", "Chinese food")
    assert reconcile(known, [new], NOW) == [Change(new, ("1",), "supersede")]


def test_another_persons_value_leaves_the_users_alone() -> None:
    known = [fact(1, "I work at Siemens.", "employer")]
    new = said("Jack works at Nestle.", "employer", "Nestle", subject="jack")
    assert reconcile(known, [new], NOW) == [Change(new)]
    known.append(fact(2, "Jack works at Ikea.", "employer", subject="jack"))
    assert reconcile(known, [new], NOW) == [Change(new, ("2",), "supersede")]


def test_of_two_values_in_one_message_the_last_counts() -> None:
    first, last = said("I live in Bern.", "home", "Bern"), said("I live in Rome.", "home", "Rome")
    assert reconcile([], [first, last], NOW) == [Change(last)]


def test_a_denial_retracts_the_value_it_denies() -> None:
    known = [fact(1, "I live in Bern.", "home")]
    denial = said("I don't live in Bern any more.", "home", "Bern", denied=True)
    assert reconcile(known, [denial], NOW) == [Change(denial, ("1",), "retract")]


def test_a_denial_leaves_another_value_alone() -> None:
    known = [fact(1, "I live in Zurich.", "home")]
    denial = said("I don't live in Bern any more.", "home", "Bern", denied=True)
    assert reconcile(known, [denial], NOW) == [Change(denial)]


def test_a_value_that_holds_again_supersedes_its_denial() -> None:
    known = [denial(1, "Bern"), denial(2, "Rome")]
    back = said("I moved to Bern.", "home", "Bern")
    assert reconcile(known, [back], NOW) == [Change(back, ("1",), "supersede")]


def test_a_turn_remembered_late_does_not_end_what_was_said_after_it() -> None:
    known = [fact(1, "I live in Zurich.", "home", age=-1)]
    assert reconcile(known, [said("I live in Bern.", "home", "Bern")], NOW) == []


@pytest.mark.parametrize(("told_by", "changes"), [(3, 0), (5, 1)])
def test_the_order_of_turns_counts_and_not_what_clocks_say(told_by: int, changes: int) -> None:
    ahead = replace(fact(1, "I live in Bern.", "home", age=-100), turn_id=4)
    new = said("I live in Rome.", "home", "Rome")
    assert len(reconcile([ahead], [new], NOW, told_by)) == changes
    assert reconcile([replace(ahead, turn_id=None)], [new], NOW, told_by) == []
