"""`inferscale bench` as a program: its table, its last line, and absent packages."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from inferscale.commands import app
from memory_engine.engines.base import Engine
from memory_engine.engines.fake import FakeEngine

# The whole command on the fake engine, in a process that cannot import the upper layers.
PROGRAM = """
import sys
ABSENT = ("gradio", "langgraph", "sqlalchemy", "alembic", "faiss", "sentence_transformers", "ui")
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from benchmarks.speed import bench_session as session
from inferscale.commands import main
from memory_engine.engines.fake import FakeEngine
session.build_engine = lambda model, arguments: FakeEngine()
session.word_tokens = lambda model, count: list(range(count))
sys.argv = ["inferscale", "bench", "--k", "0,2", "--repeats", "1", "--fact-tokens", "8"]
main()
"""


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """Arguments of the engines that were made."""
    made: list[dict[str, Any]] = []

    def build(model: str, arguments: dict[str, Any]) -> Engine:
        made.append(arguments | {"model": model})
        return FakeEngine(lambda prompt: "word " * 32, max_model_len=arguments["max_model_len"])

    folder = tmp_path / "model"
    folder.mkdir()
    shape = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 64}
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"} | shape))
    (folder / "model.safetensors").touch()
    monkeypatch.setenv("INFERSCALE_MODEL", str(folder))
    monkeypatch.setattr("benchmarks.speed.bench_session.build_engine", build)
    monkeypatch.setattr(
        "benchmarks.speed.bench_session.word_tokens", lambda model, count: list(range(count))
    )
    return made


def test_json_is_one_line_with_a_row_for_every_k(engines: list[dict[str, Any]]) -> None:
    arguments = ["bench", "--k", "0,3", "--repeats", "2", "--fact-tokens", "6", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("\n") == 1
    report = json.loads(result.stdout)
    assert [row["k"] for row in report["rows"]] == [0, 3]
    for row in report["rows"]:
        assert set(row) >= {"k", "prompt_tokens", "text_ttft_ms", "kv_ttft_ms", "speedup"}
        assert set(row["text_ttft_ms"]) == set(row["kv_ttft_ms"]) == {"median", "p90"}
    assert report["rows"][1]["prompt_tokens"] - report["rows"][0]["prompt_tokens"] == 18
    assert "speedup" in result.stderr, "the table is for people"


def test_the_table_names_hardware_versions_and_n(engines: list[dict[str, Any]]) -> None:
    result = CliRunner().invoke(app, ["bench", "--k", "0", "--repeats", "2"])
    assert result.exit_code == 0, result.stderr
    *shown, last = result.stdout.splitlines()
    assert json.loads(last)["n"] == 2
    heading = "".join(shown)
    assert "medians of 2 after 1 warm-up" in heading
    assert "cores" in heading
    assert "python 3." in heading


def test_everything_at_once_is_still_one_line(engines: list[dict[str, Any]]) -> None:
    arguments = ["bench", "--k", "0,2", "--repeats", "1", "--fact-lengths", "4,6", "--load-k", "3"]
    arguments += ["--concurrency", "1,2", "--requests", "4", "--output-tokens", "1,3", "--encode"]
    result = CliRunner().invoke(app, [*arguments, "--chat-requests", "2", "--json"])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("\n") == 1
    report = json.loads(result.stdout)
    assert report["errors"] == {}
    assert report["bandwidth"] is None
    assert len(report["fact_lengths"]) == 2
    assert len(report["throughput"]) == 4
    for part in ("Requests a second", "Latencies of those", "Encoding 1024 facts", "aimed at"):
        assert part in result.stderr


def test_a_part_that_fails_is_told_after_what_was_measured(engines: list[dict[str, Any]]) -> None:
    arguments = ["bench", "--k", "0", "--repeats", "1", "--concurrency", "1", "--requests", "1"]
    result = CliRunner().invoke(app, [*arguments, "--output-tokens", "40", "--json"])
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["rows"]
    assert report["throughput"] is None
    assert "ended a reply early" in report["errors"]["throughput"]
    assert "throughput: The engine ended" in result.stderr


@pytest.mark.parametrize("option", ["--k", "--fact-lengths", "--concurrency", "--output-tokens"])
def test_lists_that_are_none_name_their_option(option: str) -> None:
    result = CliRunner().invoke(app, ["bench", option, "few"])
    assert result.exit_code == 2
    assert f"{option} few cannot work" in result.stderr


def test_a_model_may_be_spread_over_gpus(
    engines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.hardware._first_gpu", lambda: ("NVIDIA Test", 80 << 30))
    arguments = ["bench", "--dummy-model", "llama-70b", "--tensor-parallel", "4", "--k", "0"]
    result = CliRunner().invoke(app, [*arguments, "--repeats", "1", "--json"])
    assert result.exit_code == 0, result.stderr
    assert engines[0]["tensor_parallel_size"] == 4
    assert json.loads(result.stdout)["tensor_parallel"] == 4


def test_a_dummy_model_needs_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.hardware._first_gpu", lambda: ("", 0))
    result = CliRunner().invoke(app, ["bench", "--dummy-model", "llama-8b"])
    assert result.exit_code == 2
    assert "needs an NVIDIA GPU" in result.stderr


def test_an_unknown_dummy_model_is_told_which_there_are() -> None:
    result = CliRunner().invoke(app, ["bench", "--dummy-model", "gpt-5"])
    assert result.exit_code == 2
    assert "allowed is llama-8b, llama-70b" in result.stderr


def test_a_dummy_model_runs_without_weights_and_without_tokenizer(
    engines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.hardware._first_gpu", lambda: ("NVIDIA Test", 80 << 30))
    arguments = ["bench", "--dummy-model", "llama-8b", "--k", "0,200", "--fact-tokens", "40"]
    result = CliRunner().invoke(app, [*arguments, "--repeats", "1", "--json"])
    assert result.exit_code == 0, result.stderr
    (engine,) = engines
    assert engine["load_format"] == "dummy"
    assert engine["skip_tokenizer_init"] is True
    assert engine["arena_bytes"] > 200 * 40 * 128 * 1024
    report = json.loads(result.stdout)
    assert report["model"] == "llama-8b"
    assert report["hardware"]["gpu"] == "NVIDIA Test"
    assert report["rows"][1]["injected_tokens"] > 200 * 40


def test_it_runs_where_page_agent_and_database_are_not_installed(
    engines: list[dict[str, Any]],
) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["rows"][1]["k"] == 2
