"""The table of model families: its summary, and the doctor's verdict when it shrinks."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from app.models import family_report as families
from inferscale.commands import app


def entry(family: str, outcome: str = "supported", reason: str = "") -> dict[str, Any]:
    return {"family": family, "exercises": "GQA", "outcome": outcome, "reason": reason}


def report(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"command": "measure", "versions": {"vllm": "1.0"}, "families": list(entries)}


REPORT = report(entry("Llama"), entry("Qwen3"), entry("OPT", "refused", "learned positions"))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measure(progress: Callable[[str], None], *, quiet: bool) -> dict[str, Any]:
        progress("1 of 3")
        return REPORT

    monkeypatch.setattr(families, "measure", measure)


def test_the_summary_counts_outcomes() -> None:
    assert families.summary(REPORT) == "2 supported, 1 refused"


def test_markdown_says_how_it_was_measured_and_gives_reasons() -> None:
    lines = families.as_markdown(REPORT).splitlines()
    assert lines[0] == "2 supported, 1 refused (`measure`, vllm 1.0)."
    assert lines[-1] == "| OPT | GQA | refused: learned positions |"


def test_the_published_table_comes_with_the_program() -> None:
    published = families.known()
    assert published is not None
    assert published["command"] == families.COMMAND
    assert len(published["families"]) > 50


@pytest.mark.usefixtures("measured")
def test_the_doctor_prints_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "known", lambda: None)
    result = CliRunner().invoke(app, ["doctor", "--families"])
    assert result.exit_code == 0
    assert "refused: learned positions" in result.stdout
    assert "1 of 3" in result.stderr


@pytest.mark.usefixtures("measured")
def test_a_family_that_is_no_longer_supported_is_a_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(families, "known", lambda: report(entry("Llama"), entry("OPT")))
    result = CliRunner().invoke(app, ["doctor", "--families", "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout) == REPORT
    assert "No longer supported: OPT." in result.stderr
