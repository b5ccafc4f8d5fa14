"""`inferscale keys`: made, listed, revoked."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.settings import PREFIX, Settings
from inferscale.commands import app


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)
    monkeypatch.setenv("INFERSCALE_DATA_DIR", str(tmp_path / "data"))


def keys(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["keys", *arguments])


def test_a_key_is_shown_once_and_can_be_revoked() -> None:
    made = json.loads(keys("add", "--user", "ann", "--name", "phone", "--json").stdout)
    assert made["key"].startswith("isk-")
    shown = keys("list", "--json")
    (listed,) = json.loads(shown.stdout)
    assert (listed["user"], listed["name"], listed["state"]) == ("ann", "phone", "")
    assert made["key"] not in shown.output
    assert keys("revoke", listed["id"]).exit_code == 0
    (listed,) = json.loads(keys("list", "--user", "ann", "--json").stdout)
    assert listed["state"] == "revoked"


def test_what_cannot_be_is_said_with_exit_code_2() -> None:
    unknown, below = keys("revoke", "7"), keys("add", "--user", "ann/bob")
    assert (unknown.exit_code, below.exit_code) == (2, 2)
    assert "no key '7'" in unknown.stderr
    assert "'ann/bob'" in below.stderr


def test_the_key_alone_is_on_stdout() -> None:
    made = keys("add", "--user", "ann")
    assert made.stdout.strip().startswith("isk-")
    assert len(made.stdout.split()) == 1
