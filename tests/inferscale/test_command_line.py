"""The command line without a model: shapes, exit codes and messages."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import uvloop
from typer.testing import CliRunner, Result

from app.settings import PREFIX, Settings
from inferscale import command
from inferscale.commands import app
from inferscale.settings_table import as_markdown


@pytest.fixture(autouse=True)
def _private_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)
    monkeypatch.setenv("INFERSCALE_DATA_DIR", str(tmp_path / "data"))


def inferscale(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def json_of(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("\n") == 1, "exactly one line"
    return json.loads(result.stdout)


def test_settings_prints_every_variable() -> None:
    result = inferscale("settings")
    assert result.exit_code == 0
    for name in Settings.model_fields:
        assert PREFIX + name.upper() in result.stdout


def test_settings_as_markdown_is_one_row_a_setting_and_names_no_home() -> None:
    lines = inferscale("settings", "--markdown").stdout.splitlines()
    assert lines == as_markdown().splitlines()
    assert len(lines) == 2 + len(Settings.model_fields)
    assert str(Path.home()) not in "".join(lines)
    assert {line.count("|") for line in lines} == {5}


def test_settings_as_json_hides_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_DATABASE_URL", "postgresql+psycopg://me:secret@host/db")
    values = json_of(inferscale("settings", "--json"))
    assert isinstance(values, dict)
    assert values["database_url"] == "postgresql+psycopg://me:***@host/db"
    assert values["port"] == 7860


def test_a_wrong_setting_ends_with_2_and_a_message_without_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INFERSCALE_PORT", "many")
    result = inferscale("settings")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "INFERSCALE_PORT=many" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_variable_is_reported_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_PROT", "1")
    result = inferscale("settings", "--json")
    json_of(result)
    assert "INFERSCALE_PROT is not a setting: is INFERSCALE_PORT meant?" in result.stderr


def test_migrate_creates_the_database_and_can_be_run_again(tmp_path: Path) -> None:
    for _ in range(2):
        result = inferscale("migrate")
        assert result.exit_code == 0, result.stderr
        assert "is at revision" in result.stdout
    assert (tmp_path / "data" / "inferscale.db").exists()


def test_facts_are_added_listed_forgotten_and_their_history_is_kept() -> None:
    added = json_of(inferscale("facts", "add", "--user", "ann", "I live in Bonn.", "--json"))
    assert isinstance(added, list)
    (fact,) = added
    assert fact["text"] == "I live in Bonn."
    assert json_of(inferscale("facts", "list", "--user", "ann", "--json")) == added
    assert json_of(inferscale("facts", "list", "--user", "bob", "--json")) == []
    embedded = json_of(inferscale("facts", "reindex", "--user", "ann", "--json"))
    assert (embedded["facts"], embedded["dimension"]) == (1, 384)
    gone = json_of(inferscale("facts", "forget", "--user", "ann", fact["id"], "--json"))
    assert gone == {"facts": 1, "forgotten": [fact["id"]]}
    assert json_of(inferscale("facts", "list", "--user", "ann", "--json")) == []
    history = json_of(inferscale("facts", "history", "--user", "ann", "--json"))
    assert isinstance(history, list)
    assert [event["kind"] for event in history] == ["added", "forgotten"]
    assert [event["text"] for event in history] == [None, None]


def test_a_changed_value_takes_the_old_ones_place() -> None:
    inferscale("facts", "add", "--user", "ann", "I live in Bonn.")
    inferscale("facts", "add", "--user", "ann", "I live in Rome.")
    listed = json_of(inferscale("facts", "list", "--user", "ann", "--json"))
    assert isinstance(listed, list)
    assert [fact["text"] for fact in listed] == ["I live in Rome."]


def test_the_same_fact_twice_is_one_fact() -> None:
    for _ in range(2):
        inferscale("facts", "add", "--user", "ann", "I live in Bonn.")
    listed = json_of(inferscale("facts", "list", "--user", "ann", "--json"))
    assert isinstance(listed, list)
    assert len(listed) == 1


def test_another_users_fact_cannot_be_forgotten() -> None:
    added = json_of(inferscale("facts", "add", "--user", "ann", "I live in Bonn.", "--json"))
    assert isinstance(added, list)
    result = inferscale("facts", "forget", "--user", "bob", added[0]["id"])
    assert result.exit_code == 2
    assert "There is no fact" in result.stderr
    assert json_of(inferscale("facts", "list", "--user", "ann", "--json")) == added


def test_a_blank_fact_is_refused() -> None:
    result = inferscale("facts", "add", "--user", "ann", "  ")
    assert result.exit_code == 2


def test_facts_need_no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INFERSCALE_MODEL", str(tmp_path / "nowhere"))
    assert inferscale("facts", "add", "--user", "ann", "I live in Bonn.").exit_code == 0


def test_a_data_folder_that_cannot_be_made_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("INFERSCALE_DATA_DIR", str(tmp_path / "file" / "data"))
    result = inferscale("facts", "list", "--user", "ann")
    assert result.exit_code == 2
    assert "INFERSCALE_DATA_DIR" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_read_only_data_folder_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("app.composition.os.access", lambda *_: False)
    result = inferscale("migrate")
    assert result.exit_code == 2
    assert f"{tmp_path / 'data'} cannot be written" in result.stderr


def test_a_database_that_was_not_migrated_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("INFERSCALE_DATABASE_URL", f"sqlite+aiosqlite:///{tmp_path / 'my.db'}")
    result = inferscale("facts", "list", "--user", "ann")
    assert result.exit_code == 2
    assert "inferscale migrate" in result.stderr


@pytest.mark.parametrize("command", [["ask", "--user", "ann", "Hi"], ["serve", "--port", "0"]])
def test_a_missing_model_folder_is_told_before_anything_loads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: list[str]
) -> None:
    monkeypatch.setenv("INFERSCALE_MODEL", str(tmp_path / "nowhere"))
    result = inferscale(*command)
    assert result.exit_code == 2, result.stderr
    assert "there is no such folder" in result.stderr
    assert result.stdout == ""


def test_a_wrong_k_is_told() -> None:
    result = inferscale("bench", "--k", "few")
    assert result.exit_code == 2
    assert "--k few" in result.stderr


def test_stdout_belongs_to_results_even_when_a_child_process_writes_to_it() -> None:
    program = (
        "import os, subprocess\n"
        "from inferscale.output import say_json, stdout_for_results\n"
        "with stdout_for_results():\n"
        "    print('printed')\n"
        "    subprocess.run(['echo', 'from a child'], check=True)\n"
        "    os.write(1, b'to the descriptor')\n"
        "    say_json({'answer': 42})\n"
        "print('after')\n"
    )
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout == '{"answer": 42}\nafter\n'
    assert "from a child" in done.stderr


def test_python_m_app_is_the_same_program() -> None:
    run = [sys.executable, "-m", "inferscale", "--help"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    for name in ("serve", "ask", "compare", "demo", "facts", "doctor", "migrate", "bench"):
        assert name in done.stdout


@pytest.mark.parametrize(("level", "of_vllm"), [("warning", "ERROR"), ("info", "INFO")])
def test_libraries_warn_only_whoever_wants_to_know_more(level: str, of_vllm: str) -> None:
    program = (
        f"import os; from inferscale.command import set_up_logging as s; s({level!r}); "
        "print(os.environ['VLLM_LOGGING_LEVEL'], os.environ.get('TORCH_CPP_LOG_LEVEL'))"
    )
    run = [sys.executable, "-c", program]
    unset = ("VLLM_LOGGING_LEVEL", "TORCH_CPP_LOG_LEVEL")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == [of_vllm, "ERROR" if level == "warning" else "None"]


def test_a_command_runs_on_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def work(_: Settings) -> None:
        loops.append(asyncio.get_running_loop())

    monkeypatch.setattr(command, "set_up_logging", lambda *_, **__: None)
    command.run(work)
    assert isinstance(loops[0], uvloop.Loop)


def test_log_lines_may_be_json_objects() -> None:
    program = (
        "import logging; from inferscale.command import set_up_logging as s; "
        "s('info', as_json=True); logging.getLogger('x').info('one %s', 'two')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    line = json.loads(done.stderr)
    assert (line["level"], line["logger"], line["message"]) == ("INFO", "x", "one two")
