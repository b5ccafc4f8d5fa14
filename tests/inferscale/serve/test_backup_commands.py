"""`inferscale backup` and `inferscale restore`: their messages and refusals."""

from pathlib import Path

import pytest

from tests.inferscale.test_command_line import _private_data as _private_data
from tests.inferscale.test_command_line import inferscale, json_of


def known() -> list[str]:
    facts = json_of(inferscale("facts", "list", "--user", "ann", "--json"))
    assert isinstance(facts, list)
    return [fact["text"] for fact in facts]


def test_a_backup_brings_back_what_was_known_when_it_was_made(tmp_path: Path) -> None:
    file = str(tmp_path / "copy.db")
    assert inferscale("facts", "add", "--user", "ann", "I live in Bonn.", "--json").exit_code == 0
    made = inferscale("backup", file)
    assert made.exit_code == 0, made.stderr
    assert "is whole" in made.stdout
    assert inferscale("backup", file).exit_code == 2
    assert inferscale("facts", "forget", "--user", "ann", "1").exit_code == 0
    refused = inferscale("restore", file)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--replace" in refused.stderr
    assert known() == []
    done = inferscale("restore", file, "--replace")
    assert done.exit_code == 0, done.stderr
    assert known() == ["I live in Bonn."]


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_for_postgresql_its_own_programs_are_named(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFERSCALE_DATABASE_URL", "postgresql+psycopg://me:secret@nowhere/db")
    result = inferscale(command, str(tmp_path / "copy.db"))
    assert result.exit_code == 2
    assert "pg_dump" in result.stderr
    assert "secret" not in result.stderr
