"""The demo's sample person, its judging of answers and its figures."""

import pytest

from agent.reply_events import Reply, Timings
from app.demo import Answers, Question, report, sample_person
from memory_engine.types import Mode


def reply(text: str, mode: Mode = Mode.TEXT, ttft_ms: float = 100.0, injected: int = 0) -> Reply:
    times = Timings(recall_ms=1, plan_ms=1, queue_ms=0, prefill_ms=1)
    return Reply(text, mode, None, "stop", ttft_ms, ttft_ms + 2, times, 100, injected, 0, 20, 5)


def test_the_sample_person_has_fifty_dated_facts_in_time_order_and_twenty_questions() -> None:
    person = sample_person()
    assert len(person.facts) == 50
    dates = [when for _, when in person.facts if when is not None]
    assert len(dates) == 50
    assert dates == sorted(dates)
    assert len(person.questions) == 20


def test_every_answer_is_in_a_fact_and_in_no_question() -> None:
    person = sample_person()
    for question in person.questions:
        assert any(question.answered_by(text) for text, _ in person.facts), question
        assert not question.answered_by(question.question)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("It is Biscuit.", True),
        ("BISCUIT", True),
        ("Two biscuits", True),
        ("Biscuity", False),
        ("A seabiscuit", False),
        ("", False),
    ],
)
def test_a_right_answer_has_the_whole_word_in_any_case(text: str, right: bool) -> None:
    assert Question("Name?", "Biscuit").answered_by(text) is right


def test_the_report_counts_right_answers_and_compares_medians() -> None:
    question = Question("Name?", "Biscuit")
    answers = [
        Answers(question, {"text": reply("Biscuit", ttft_ms=text_ms), "none": reply("Rex")})
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
