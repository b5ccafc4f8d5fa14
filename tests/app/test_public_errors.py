"""Public messages of errors, and details that go to the log alone."""

import logging

import pytest

from app.public_errors import FAILED, public_message
from memory_engine import errors


def test_where_the_database_is_goes_to_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    place = "postgresql://ann@db.example:5432/memories"
    error = errors.DatabaseUnavailableError(f"The database {place} does not answer: refused.")
    assert public_message(error) == "The database does not answer. Try again in a moment."
    assert place in caplog.text


@pytest.mark.parametrize("name", [n for n in dir(errors) if n.startswith("Database")])
def test_no_error_of_a_database_names_its_place(name: str) -> None:
    error = getattr(errors, name)("folder/biscuit.db")
    assert "biscuit" not in public_message(error)
    assert public_message(error).startswith(
        ("The database", "There is no room left for the database")
    )


def test_an_unforeseen_error_is_logged_whole_and_told_as_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert public_message(ValueError("what somebody said")) == FAILED
    assert "what somebody said" in caplog.text


def test_what_the_user_can_mend_is_told_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert public_message(errors.UserError("Write something first.")) == "Write something first."
    assert caplog.text == ""
