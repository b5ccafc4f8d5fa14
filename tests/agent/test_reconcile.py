"""What changes, given what is known."""

from datetime import UTC, datetime, timedelta

from agent.candidate import Candidate, Change
from agent.reconcile import reconcile
from agent.records import Fact

NOW = datetime(2026, 5, 6, 7, 8, tzinfo=UTC)


def fact(number: int, text: str, attribute: str | None = None, age: int = 1) -> Fact:
    said_at = NOW - timedelta(hours=age)
    return Fact(str(number), text, said_at.date(), said_at, attribute=attribute)


def said(
    text: str, attribute: str | None = None, value: str = "", denied: bool = False
) -> Candidate:
    return Candidate(text, text, attribute, value, denied)


def test_a_known_statement_changes_nothing_whatever_its_case_spaces_and_full_stop() -> None:
    known = [fact(1, "My dog is called Biscuit.")]
    for text in (
        "My dog is called Biscuit.",
        "my dog  is called biscuit",
        "MY DOG IS CALLED BISCUIT!",
    ):
        assert reconcile(known, [said(text)], NOW) == []


def test_a_statement_made_twice_is_added_once() -> None:
    twice = [said("I ski."), said("i ski")]
    assert reconcile([], twice, NOW) == [Change(twice[0])]


def test_a_new_value_ends_the_old_one() -> None:
    known = [fact(1, "I live in Bern.", "home"), fact(2, "I ski.")]
    new = said("I moved to Zurich.", "home", "Zurich")
    assert reconcile(known, [new], NOW) == [Change(new, ("1",))]


def test_love_then_hate_leaves_the_hate_active() -> None:
    known = [fact(1, "I love Chinese food.", "i feel about chinese food")]
    new = said("I hate Chinese food.", "i feel about chinese food", "Chinese food")
    assert reconcile(known, [new], NOW) == [Change(new, ("1",))]


def test_of_two_values_in_one_message_the_last_counts() -> None:
    first, last = said("I live in Bern.", "home", "Bern"), said("I live in Rome.", "home", "Rome")
    assert reconcile([], [first, last], NOW) == [Change(last)]


def test_a_denial_ends_the_value_it_denies() -> None:
    known = [fact(1, "I live in Bern.", "home")]
    denial = said("I don't live in Bern any more.", "home", "Bern", denied=True)
    assert reconcile(known, [denial], NOW) == [Change(denial, ("1",))]


def test_a_denial_leaves_another_value_alone() -> None:
    known = [fact(1, "I live in Zurich.", "home")]
    denial = said("I don't live in Bern any more.", "home", "Bern", denied=True)
    assert reconcile(known, [denial], NOW) == [Change(denial)]


def test_a_turn_remembered_late_does_not_end_what_was_said_after_it() -> None:
    known = [fact(1, "I live in Zurich.", "home", age=-1)]
    assert reconcile(known, [said("I live in Bern.", "home", "Bern")], NOW) == []
