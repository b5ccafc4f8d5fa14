"""Counts of a user journal: lost, foreign, wrong and unclear."""

import pytest

from app.public_errors import FAILED
from tests.fleet.user_journal import NO_ANSWER, Failure, Journal


def test_an_acknowledged_turn_that_is_not_stored_is_lost() -> None:
    journal = Journal(turns={"ann": ["I ski.", "Fine.", "Fine."], "bob": ["Hello"]})
    journal.compare_turns({"ann": ["Fine.", "I ski.", "more"]})
    assert journal.lost_turns == ["ann: Fine.", "bob: Hello"]


def test_an_acknowledged_fact_is_lost_without_its_word_and_wrong_with_two_of_it() -> None:
    journal = Journal(facts={"ann": ["Badoku", "Sivelo", "Tiruma"]})
    journal.compare_facts({"ann": ["Tiruma skis.", "Tiruma plays chess.", "Badokus", "Sivelo"]})
    assert journal.lost_facts == ["ann: Badoku"]
    assert journal.wrong == ["ann: Tiruma twice"]


def test_what_was_not_acknowledged_may_be_there_or_not() -> None:
    journal = Journal(turns={"ann": ["I ski."]}, facts={"ann": ["Badoku"]})
    journal.compare_turns({"ann": ["I ski.", "I swim."]})
    journal.compare_facts({"ann": ["Badoku skis.", "Sivelo skis."]})
    assert set(journal.counts().values()) == {0}


@pytest.mark.parametrize(
    ("message", "clear"),
    [
        ("No engine answers now. Send the message again in a minute.", True),
        (FAILED, False),
        (NO_ANSWER, False),
        (" ", False),
    ],
)
def test_an_error_is_clear_when_it_was_said_on_purpose(message: str, clear: bool) -> None:
    assert Failure(503, message).clear is clear
    assert Journal(failures=[Failure(503, message)]).counts()["unclear_errors"] == (not clear)


def test_broken_connections_are_only_right_where_an_app_was_killed() -> None:
    journal = Journal(failures=[Failure(0, NO_ANSWER), Failure(500, FAILED)])
    assert journal.counts()["unclear_errors"] == 2
    assert journal.counts(breaks=True)["unclear_errors"] == 1


def test_errors_are_grouped_without_their_numbers() -> None:
    told = ["6 requests wait", "12 requests wait", "No engine answers now."]
    journal = Journal(failures=[Failure(429, text) for text in told])
    assert journal.grouped() == [
        {"status": 429, "message": "N requests wait", "n": 2},
        {"status": 429, "message": "No engine answers now.", "n": 1},
    ]
