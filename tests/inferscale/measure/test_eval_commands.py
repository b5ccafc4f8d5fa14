"""`inferscale eval` as a program: its tables, its last line, and its refusals."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.quality.retrieval.evidence_recall import measure_retrieval
from inferscale.commands import app
from memory_engine.engines.base import Engine
from memory_engine.engines.fake import FakeEngine
from tests.benchmarks.quality.datasets.locomo_builder import written
from tests.benchmarks.quality.datasets.persona_chat_builder import write_dialogues
from tests.benchmarks.quality.fake_likelihood_engine import FakeLikelihoodEngine


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch, bundled_llm: Path) -> list[dict[str, Any]]:
    """Arguments of the engines that were made."""
    made: list[dict[str, Any]] = []

    def build(model: str, arguments: dict[str, Any]) -> Engine:
        made.append(arguments)
        return FakeLikelihoodEngine(max_model_len=arguments["max_model_len"])

    monkeypatch.setenv("INFERSCALE_MODEL", str(bundled_llm))
    monkeypatch.setattr("benchmarks.quality.eval_session.build_engine", build)
    return made


def test_fidelity_in_json_is_one_line_with_a_row_for_every_setup(
    engines: list[dict[str, Any]], tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('["locomo_0_qa3"]')
    arguments = ["eval", "fidelity", "--data", str(written(tmp_path)), "--wrong-gold", str(wrong)]
    arguments += ["--k", "3,4", "--windows", "facts:8,none", "--stores", "auto,fp8", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("\n") == 1
    report = json.loads(result.stdout)
    assert [(row["k"], row["window"], row["store"]) for row in report["rows"]] == [
        (3, "facts:8", "auto"),
        (4, "facts:8", "auto"),
        (3, "none", "auto"),
        (4, "none", "auto"),
        (3, "facts:8", "fp8"),
        (4, "facts:8", "fp8"),
    ]
    assert [each["store_dtype"] for each in engines] == ["auto", "fp8"]
    assert report["n"] == 2
    assert report["rows"][0]["retained"]["kv"]["value"] == 0.75
    assert report["hardware"]["cores"]
    assert "KV retains" in result.stderr, "the tables are for people"


def test_ablation_varies_what_was_not_given(engines: list[dict[str, Any]], tmp_path: Path) -> None:
    arguments = ["eval", "fidelity", "--data", str(written(tmp_path)), "--k", "3", "--ablate"]
    result = CliRunner().invoke(app, [*arguments, "--tails", "3,1", "--json"])
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)["rows"]
    assert [row["window"] for row in rows].count("facts:8") == 3
    assert {row["window"] for row in rows} == {"facts:8", "none", "facts:3", "facts:16", "facts:32"}
    assert {row["tail"] for row in rows} == {3, 1}
    assert {row["order"] for row in rows} == {"time", "relevance"}


def test_answers_say_f1_by_category(engines: list[dict[str, Any]], tmp_path: Path) -> None:
    arguments = ["eval", "answers", "--data", str(written(tmp_path)), "--k", "4", "--limit", "3"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    *shown, last = result.stdout.splitlines()
    (row,) = json.loads(last)["rows"]
    assert sum(each["questions"] for each in row["categories"].values()) == 3
    assert row["same_reply"] == 1.0
    assert "Token F1" in "".join(shown)


def test_a_refused_model_is_not_evaluated(
    engines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refused = lambda model, arguments: FakeEngine(supported=False)  # noqa: E731
    monkeypatch.setattr("benchmarks.quality.eval_session.build_engine", refused)
    result = CliRunner().invoke(app, ["eval", "answers", "--data", str(written(tmp_path))])
    assert result.exit_code == 1
    assert "nothing to compare: the fake engine was told to refuse" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--k", "few"], "--k few cannot work"),
        (["--limit", "0"], "--limit must be 1 or more"),
        (["--orders", "size"], "--orders size cannot work"),
        (["--k", "1", "--limit", "1", "--wrong-gold", "none.json"], "none.json cannot be read"),
    ],
)
def test_what_cannot_work_is_said_before_a_model_is_loaded(
    engines: list[dict[str, Any]], tmp_path: Path, options: list[str], message: str
) -> None:
    arguments = ["eval", "fidelity", "--data", str(written(tmp_path)), *options]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert engines == []


@pytest.mark.parametrize("part", ["retrieval", "extraction"])
def test_a_limit_of_nothing_is_refused_wherever_there_is_one(part: str, tmp_path: Path) -> None:
    arguments = ["eval", part, "--data", str(written(tmp_path)), "--limit", "0"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "--limit must be 1 or more" in result.stderr


def test_retrieval_and_extraction_need_no_language_model(
    engines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = partial(measure_retrieval, speed_facts=50)
    monkeypatch.setattr("benchmarks.quality.without_llm.measure_retrieval", measured)
    result = CliRunner().invoke(app, ["eval", "retrieval", "--data", str(written(tmp_path))])
    assert result.exit_code == 0, result.stderr
    *shown, last = result.stdout.splitlines()
    report = json.loads(last)
    assert report["n"] == report["questions"] == 4
    assert report["systems"]["inferscale"]["overall"]["recall"]["5"]["value"] == 1.0
    assert "Share of the evidence among the facts found, of 4 facts" in "".join(shown)

    said = ["I have a dog.", "I am a baker.", "Oh, nice to hear!"]
    data = write_dialogues(tmp_path, [(["I have a dog."], ["I am a baker."], said)])
    result = CliRunner().invoke(app, ["eval", "extraction", "--data", str(data), "--json"])
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["n"], report["statements"], report["found"]) == (3, 2, 2)
    assert report["ungrounded"] == 0
    assert "dog" not in result.stdout, "no quotation goes into a report"
    assert engines == []
