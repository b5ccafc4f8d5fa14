"""`inferscale facts`: add, list, undo and history, without a model."""

import pytest

from tests.inferscale.memory.fact_command_builder import facts, json_of, known, teach

pytestmark = pytest.mark.usefixtures("data")


def test_a_change_is_undone_and_the_history_shows_what_held_when() -> None:
    teach("I live in Bonn.")
    teach("I live in Rome.")
    assert [fact["text"] for fact in json_of("undo", "1")] == ["I live in Bonn."]
    assert known() == ["I live in Bonn."]
    rome = [event for event in json_of("history") if event["fact_id"] == "2"]
    assert [event["kind"] for event in rome] == ["added", "undone"]
    assert rome[1]["valid_from"] < rome[1]["valid_to"]
    shown = facts("history").stdout
    assert "held from" in shown
    assert "restored" in shown
    nothing = facts("undo", "1")
    assert nothing.exit_code == 2
    assert "nothing to undo" in nothing.stderr


@pytest.mark.parametrize("user", ["  ", "x" * 201])
def test_a_name_that_cannot_be_one_is_told_so(user: str) -> None:
    result = facts("list", user=user)
    assert result.exit_code == 2
    assert "name" in result.stderr
