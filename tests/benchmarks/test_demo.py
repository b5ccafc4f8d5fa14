"""The demo's report: right answers counted, medians compared."""

from agent.reply_events import Reply, Timings
from app.sample_person import SampleQuestion
from benchmarks.demo import DemoAnswer, report
from memory_engine.types import Mode


def reply(text: str, mode: Mode = Mode.TEXT, ttft_ms: float = 100.0, injected: int = 0) -> Reply:
    times = Timings(recall_ms=1, plan_ms=1, queue_ms=0, prefill_ms=1)
    return Reply(text, mode, None, "stop", ttft_ms, ttft_ms + 2, times, 100, injected, 0, 20, 5)


def test_the_report_counts_right_answers_and_compares_medians() -> None:
    question = SampleQuestion("Name?", "Biscuit")
    answers = [
        DemoAnswer(question, {"text": reply("Biscuit", ttft_ms=text_ms), "none": reply("Rex")})
        for text_ms in (90.0, 100.0, 300.0)
    ]
    for each, words in zip(answers, ("Biscuit", "Biscuit", "Rex"), strict=True):
        each.replies["kv"] = reply(words, Mode.KV, 10.0, 80)
    figures = report(answers)
    assert figures["n"] == 3
    assert figures["correct"] == {"text": 3, "kv": 2, "none": 0}
    assert figures["same_reply"] == 2
    assert figures["speedup"] == 10.0
    assert figures["ttft_ms"]["text"] == {"median": 100.0, "p90": 260.0}
    assert figures["injected_tokens"] == 80
    assert figures["prompt_tokens"] == 100
