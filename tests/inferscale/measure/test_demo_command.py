"""`inferscale demo` from the command line, on an engine that reads its prompt."""

import json

from tests.inferscale.fake_stage import FakeStage


def test_demo_knows_the_answers_with_memory_and_not_without(stage: FakeStage) -> None:
    figures = stage.json("demo")
    assert set(figures) >= {
        "n",
        "correct",
        "same_reply",
        "ttft_ms",
        "speedup",
        "injected_tokens",
        "prompt_tokens",
    }
    assert figures["n"] == 20
    assert figures["correct"]["text"] >= 10
    assert figures["correct"]["kv"] == figures["correct"]["text"]
    assert figures["correct"]["none"] == 0
    assert figures["same_reply"] == 20
    assert set(figures["ttft_ms"]["kv"]) == {"median", "p90"}
    assert figures["injected_tokens"] > 0


def test_demo_leaves_no_trace_in_the_users_database(stage: FakeStage) -> None:
    before = stage.json("facts", "list", "--user", "sample")
    stage.json("demo")
    assert stage.json("facts", "list", "--user", "sample") == before == []


def test_demo_prints_its_table_and_then_one_json_line(stage: FakeStage) -> None:
    result = stage.run("demo")
    assert result.exit_code == 0, result.stderr
    *shown, last = result.stdout.splitlines()
    assert json.loads(last)["n"] == 20
    assert any("Which city do I live in?" in line for line in shown)
