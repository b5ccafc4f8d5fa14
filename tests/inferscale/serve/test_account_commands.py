"""`inferscale accounts`: made, listed, changed, removed, with and without the memory."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.settings import PREFIX, Settings
from inferscale.commands import app
from tests.agent.agent_builder import prepare, url_of

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)
    monkeypatch.setenv("INFERSCALE_DATA_DIR", str(tmp_path))
    prepare(url_of(tmp_path))


def run(*arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, arguments, input=typed)


def added(name: str = "ann") -> Result:
    return run("accounts", "add", name, "--password-stdin", typed=f"{PASSWORD}\n")


def facts(user: str) -> list[str]:
    listed = json.loads(run("facts", "list", "--user", user, "--json").stdout)
    return [fact["text"] for fact in listed]


def test_an_account_is_made_listed_and_given_another_password() -> None:
    made = added()
    assert made.exit_code == 0, made.output
    assert "ann can sign in" in made.stderr
    shown = run("accounts", "list", "--json")
    (listed,) = json.loads(shown.stdout)
    assert listed["name"] == "ann"
    assert PASSWORD not in shown.output
    changed = run("accounts", "password", "ann", typed="another long secret\n" * 2)
    assert changed.exit_code == 0, changed.output
    assert "another long secret" not in changed.output


def test_a_password_that_was_mistyped_is_asked_for_again() -> None:
    typed = f"{PASSWORD}\nsomething else\n{PASSWORD}\n{PASSWORD}\n"
    assert run("accounts", "add", "ann", typed=typed).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "typed", "told"),
    [
        (["add", "ann"], f"{PASSWORD}\n", "already"),
        (["add", "bob"], "short\n", "12 to 1000"),
        (["add", "ann/bob"], f"{PASSWORD}\n", "'ann/bob'"),
        (["password", "bob"], f"{PASSWORD}\n", "no account 'bob'"),
    ],
)
def test_what_cannot_be_is_said_with_exit_code_2(
    arguments: list[str], typed: str, told: str
) -> None:
    added()
    refused = run("accounts", *arguments, "--password-stdin", typed=typed)
    assert refused.exit_code == 2
    assert told in refused.stderr


@pytest.mark.parametrize(("memory", "asked"), [("keep", True), ("forget", False)])
def test_a_removed_accounts_memory_is_kept_or_forgotten(memory: str, asked: bool) -> None:
    added()
    for user in ("ann", "ann/app", "bob"):
        run("facts", "add", "I ski.", "--user", user)
    run("keys", "add", "--user", "ann")
    options = [] if asked else ["--memory", memory]
    removed = run("accounts", "remove", "ann", *options, typed=f"{memory}\n")
    assert removed.exit_code == 0, removed.output
    left = ["I ski."] if memory == "keep" else []
    assert (facts("ann"), facts("ann/app"), facts("bob")) == (left, left, ["I ski."])
    assert json.loads(run("accounts", "list", "--json").stdout) == []
    (key,) = json.loads(run("keys", "list", "--json").stdout)
    assert key["state"] == "revoked"
    assert ("2 facts" in removed.stderr) == (memory == "forget")
