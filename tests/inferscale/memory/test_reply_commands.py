"""`ask` and `compare` from the command line, on an engine that reads its prompt."""

import json
from typing import Any

import pytest

from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EngineError
from memory_engine.types import Plan, Prompt
from tests.agent.fake_memory import FakeMemory
from tests.inferscale.fake_stage import FakeStage

REPLY_FIELDS = {
    "reply",
    "mode",
    "ttft_ms",
    "e2e_ttft_ms",
    "timings",
    "prompt_tokens",
    "injected_tokens",
    "cached_tokens",
    "prefilled_tokens",
    "facts",
    "left_out",
}


def test_ask_answers_with_every_agreed_field(stage: FakeStage) -> None:
    answer = stage.json("ask", "--user", "ann", "What is my dog called?")
    assert set(answer) >= REPLY_FIELDS
    assert set(answer["timings"]) == {"recall_ms", "plan_ms", "queue_ms", "prefill_ms"}
    assert "Biscuit" in answer["reply"]
    assert answer["mode"] == "kv"
    assert {fact["text"] for fact in answer["facts"]} == {
        "My dog is called Biscuit.",
        "I ski in winter.",
    }


def test_ask_has_its_facts_encoded_before_it_asks(stage: FakeStage) -> None:
    answer = stage.json("ask", "--user", "ann", "What is my dog called?")
    assert answer["injected_tokens"] > 0
    assert all(fact["injected"] for fact in answer["facts"])
    assert answer["prompt_tokens"] == (
        answer["injected_tokens"] + answer["cached_tokens"] + answer["prefilled_tokens"]
    )


def test_ask_in_text_mode_injects_nothing(stage: FakeStage) -> None:
    answer = stage.json("ask", "--user", "ann", "--mode", "text", "What is my dog called?")
    assert answer["mode"] == "text"
    assert answer["injected_tokens"] == 0


def test_k_limits_the_facts(stage: FakeStage) -> None:
    answer = stage.json("ask", "--user", "ann", "--k", "1", "What is my dog called?")
    assert [fact["text"] for fact in answer["facts"]] == ["My dog is called Biscuit."]


def test_ask_remembers_unless_told_not_to(stage: FakeStage) -> None:
    stage.json("ask", "--user", "ann", "--no-remember", "My cat is called Tom.")
    stage.json("ask", "--user", "ann", "My horse is called Max.")
    texts = [fact["text"] for fact in stage.json("facts", "list", "--user", "ann")]
    assert not any("Tom" in text for text in texts)
    assert any("Max" in text for text in texts)


def test_the_reply_is_on_stdout_and_its_trace_on_stderr(stage: FakeStage) -> None:
    result = stage.run("ask", "--user", "ann", "What is my dog called?")
    assert result.exit_code == 0, result.stderr
    assert "Biscuit" in result.stdout
    assert "first token after" not in result.stdout
    assert "kv: first token after" in result.stderr
    assert "2 facts" in result.stderr


def test_facts_that_did_not_fit_are_told(stage: FakeStage, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = FakeMemory.plan

    def with_left_out(*arguments: Any, **options: Any) -> Plan:
        made = plan(*arguments, **options)
        return Plan(made.prompt, made.used, made.injectable, left_out=7)

    monkeypatch.setattr(FakeMemory, "plan", with_left_out)
    result = stage.run("ask", "--user", "ann", "What is my dog called?")
    assert "7 recalled facts did not fit and were left out." in result.stderr


def test_a_blank_question_is_refused_with_2(stage: FakeStage) -> None:
    result = stage.run("ask", "--user", "ann", "   ")
    assert result.exit_code == 2
    assert "empty" in result.stderr
    assert not stage.engines[-1].running


def test_an_engine_that_fails_ends_with_1_and_no_traceback(
    stage: FakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: FakeEngine) -> None:
        raise RuntimeError("out of memory somewhere")

    monkeypatch.setattr(FakeEngine, "start", broken)
    result = stage.run("ask", "--user", "ann", "Hello")
    assert result.exit_code == 1
    assert "The engine did not start: out of memory somewhere" in result.stderr
    assert isinstance(result.exception, SystemExit)


def test_a_refused_model_answers_in_text_mode_and_says_why(stage: FakeStage) -> None:
    stage.options = {"supported": False}
    result = stage.run("ask", "--user", "ann", "--json", "What is my dog called?")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["mode"] == "text"
    assert "told to refuse" in result.stderr


def test_kv_mode_on_a_refused_model_ends_with_1(stage: FakeStage) -> None:
    stage.options = {"supported": False}
    result = stage.run("ask", "--user", "ann", "--mode", "kv", "Hello")
    assert result.exit_code == 1
    assert "told to refuse" in result.stderr
    assert stage.run("compare", "--user", "ann", "Hello").exit_code == 1


def test_compare_reports_both_modes_on_the_same_tokens(stage: FakeStage) -> None:
    report = stage.json("compare", "--user", "ann", "--repeats", "2", "What is my dog called?")
    assert set(report) >= {"text", "kv", "speedup", "same_reply"}
    assert set(report["text"]) >= REPLY_FIELDS
    assert set(report["kv"]) >= REPLY_FIELDS
    assert report["text"]["prompt_tokens"] == report["kv"]["prompt_tokens"]
    assert report["text"]["injected_tokens"] == 0
    assert report["kv"]["injected_tokens"] > 0
    assert report["same_reply"] is True
    assert report["n"] == 2
    assert report["speedup"] > 0


def test_compare_takes_turns_with_fresh_salts_and_stores_nothing(
    stage: FakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    generate = FakeEngine.generate

    def watched(self: FakeEngine, prompt: Prompt, mode: Any, sampling: Any) -> Any:
        asked.append((mode, sampling.cache_salt))
        return generate(self, prompt, mode, sampling)

    monkeypatch.setattr(FakeEngine, "generate", watched)
    stage.json("compare", "--user", "ann", "--repeats", "2", "My cat is called Tom.")
    assert [mode for mode, _ in asked] == ["text", "kv", "kv", "text", "text", "kv"]
    turns = [{salt for _, salt in asked[n : n + 2]} for n in (0, 2, 4)]
    assert all(all(turn) for turn in turns)
    assert not turns[0] & turns[1]
    assert not turns[1] & turns[2]
    facts = stage.json("facts", "list", "--user", "ann")
    assert not any("Tom" in fact["text"] for fact in facts)


def test_compare_prints_a_table_for_people(stage: FakeStage) -> None:
    result = stage.run("compare", "--user", "ann", "What is my dog called?")
    assert result.exit_code == 0, result.stderr
    assert "the same reply" in result.stdout
    assert "injected" in result.stdout


def test_the_engine_is_stopped_whatever_happens(stage: FakeStage) -> None:
    def fail(prompt: Prompt) -> str:
        raise EngineError("it broke")

    stage.reply = fail
    result = stage.run("ask", "--user", "ann", "Hello there")
    assert result.exit_code == 1
    assert "it broke" in result.stderr
    assert not stage.engines[-1].running
