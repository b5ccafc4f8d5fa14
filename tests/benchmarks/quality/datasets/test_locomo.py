"""LoCoMo's format, with its irregularities."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from benchmarks.quality.datasets.locomo import (
    LocomoConversation,
    LocomoTurn,
    Observation,
    load,
    wrong_gold,
)
from memory_engine.errors import SettingsError
from tests.benchmarks.quality.datasets.locomo_builder import RECORD, written


@pytest.fixture
def conversation(tmp_path: Path) -> LocomoConversation:
    (conversation,) = load(written(tmp_path))
    return conversation


def test_turns_stand_in_the_order_of_their_sessions_numbers(
    conversation: LocomoConversation,
) -> None:
    assert conversation.id == "conv-1"
    assert conversation.speakers == ("Vera", "Olaf")
    assert [turn.dia_id for turn in conversation.turns] == ["D2:1", "D2:2", "D10:1", "D10:2"]
    said_at = datetime(2024, 6, 2, 9, 5)
    assert conversation.turns[2] == LocomoTurn("D10:1", "Olaf", "I sold my café in Köln.", said_at)


def test_half_past_midnight_is_not_noon(conversation: LocomoConversation) -> None:
    assert conversation.turns[0].said_at == datetime(2024, 2, 29, 0, 30)


def test_a_turn_is_what_was_said_without_the_picture(conversation: LocomoConversation) -> None:
    assert conversation.turns[0].text == "Look at my new bike!"


def test_observations_name_one_turn_or_several(conversation: LocomoConversation) -> None:
    assert [each.text.split()[0] for each in conversation.observations] == [
        "Vera",
        "Olaf",
        "Vera",
        "Olaf",
    ]
    assert conversation.observations[0].dia_ids == ("D2:1",)
    assert conversation.observations[3] == Observation(
        "Olaf",
        "Olaf sold his café, and Vera bought goats.",
        ("D10:1", "D10:2"),
        datetime(2024, 6, 2, 9, 5),
    )


def test_questions_are_numbered_as_in_the_file(tmp_path: Path) -> None:
    _, second = load(written(tmp_path, RECORD, RECORD | {"sample_id": "conv-2"}))
    assert [question.id for question in second.questions][:2] == ["locomo_1_qa0", "locomo_1_qa1"]


def test_an_answer_that_is_a_number_becomes_text(conversation: LocomoConversation) -> None:
    assert conversation.questions[0].answer == "2024"


def test_an_adversarial_question_has_no_answer(conversation: LocomoConversation) -> None:
    assert (conversation.questions[4].category, conversation.questions[4].answer) == (5, "")


def test_several_turns_in_one_string_are_taken_apart_and_named_once(
    conversation: LocomoConversation,
) -> None:
    assert conversation.questions[1].evidence == ("D2:1", "D10:2")


def test_evidence_that_names_no_turn_is_left_out(conversation: LocomoConversation) -> None:
    assert conversation.questions[2].evidence == ()
    assert conversation.questions[3].evidence == ("D2:2",)


def test_wrong_gold_is_a_list_of_question_ids(tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text('["locomo_0_qa2", "locomo_3_qa4"]')
    assert wrong_gold(path) == {"locomo_0_qa2", "locomo_3_qa4"}
    path.write_text("[2, 3]")
    with pytest.raises(SettingsError, match="no list of question ids"):
        wrong_gold(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not json", "is not JSON"),
        ("{}", "must hold a JSON list"),
        ("[{}]", "is no file of LoCoMo conversations: KeyError"),
        ("[4]", "is no file of LoCoMo conversations"),
    ],
)
def test_a_file_of_something_else_is_the_users_error(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(SettingsError, match=message):
        load(path)


def test_a_missing_file_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        load(tmp_path / "none.json")


def test_a_session_without_its_date_is_the_users_error(tmp_path: Path) -> None:
    record = json.loads(json.dumps(RECORD))
    del record["conversation"]["session_2_date_time"]
    with pytest.raises(SettingsError, match="session_2_date_time"):
        load(written(tmp_path, record))
