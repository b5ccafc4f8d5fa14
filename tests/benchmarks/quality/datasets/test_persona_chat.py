"""The reader of the data set, and its rule for first-person statements."""

from pathlib import Path

import pytest

from benchmarks.quality.datasets.persona_chat import dialogues, first_person_statements
from memory_engine.errors import UserError
from tests.benchmarks.quality.datasets.persona_chat_builder import write_dialogues


def test_a_dialogue_has_two_people_and_turns(tmp_path: Path) -> None:
    path = write_dialogues(
        tmp_path, [(["I ski."], ["I run.", "I am 30."], ["Hi!", "I ski: a lot."])]
    )
    (dialogue,) = dialogues(path)
    assert dialogue.personas == (("I ski.",), ("I run.", "I am 30."))
    assert dialogue.turns == ((0, "Hi!"), (1, "I ski: a lot."))


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="no CSV file of Synthetic-Persona-Chat"):
        list(dialogues(path))
    with pytest.raises(UserError, match="cannot be read"):
        list(dialogues(tmp_path / "missing.csv"))


@pytest.mark.parametrize(
    ("turn", "statements"),
    [
        ("Hi! I'm a nurse. What about you?", ["I'm a nurse."]),
        ("Oh, well, my dog is old. Me too! We ski.", ["my dog is old.", "We ski."]),
        ("I agree. I'm glad to hear it. I think so. I'd love that. I hope you do.", []),
        ("Do I ski? I ski, right?", []),
        ("You are nice. That sounds like fun. Thanks!", []),
        ("I'm [User 1's name]. My name is (name).", []),
        ("I love it.", ["I love it."]),
    ],
)
def test_a_statement_is_declarative_and_of_the_speaker(turn: str, statements: list[str]) -> None:
    assert first_person_statements(turn) == statements
