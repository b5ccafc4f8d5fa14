"""Are the answers as right with injected KV as with text? Token F1 of greedy replies."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import mean
from time import perf_counter
from typing import Any

from app.settings import Settings
from benchmarks.quality.arms.arm_runner import ARMS, Arms, Outcome
from benchmarks.quality.arms.cases import Talk
from benchmarks.quality.arms.scoring import Reply, reply
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.datasets.locomo import CATEGORIES, Question
from benchmarks.quality.eval_session import Asked, Progress, about, prepared, served
from benchmarks.quality.intervals import RESAMPLES, mean_of
from benchmarks.quality.token_f1 import answer_f1
from memory_engine.engines.base import Engine
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import Mode, Prompt

REPLY_TOKENS = 32
# Gold answers are a few words, and F1 counts every word beside them.
INSTRUCTION = " Answer in a few words."

Row = dict[str, Any]


async def run_answers(
    settings: Settings, asked: Asked, setups: Sequence[Setup], progress: Progress
) -> dict[str, Any]:
    """The whole evaluation; the report. All setups store KV as the settings say."""
    started = perf_counter()
    talks = await prepared(settings, asked, setups, progress)
    async with served(settings, talks, progress) as (engine, tokenizer):
        report = about(settings, engine, asked, talks)
        rows = await measure_answers(engine, tokenizer, talks, setups, asked.seed, progress)
    return report | {
        "reply_tokens": REPLY_TOKENS,
        "instruction": INSTRUCTION.strip(),
        "resamples": RESAMPLES,
        "rows": rows,
        "seconds": round(perf_counter() - started, 1),
    }


async def measure_answers(
    engine: Engine,
    tokenizer: ChatTokenizer,
    talks: Sequence[Talk],
    setups: Sequence[Setup],
    seed: int,
    progress: Progress,
) -> list[Row]:
    """A row for every setup, ready for JSON. seed: of the bootstrap."""

    async def ask(prompt: Prompt, mode: Mode, question: Question) -> Reply:
        return await reply(engine, prompt, mode, REPLY_TOKENS)

    arms = Arms(engine, tokenizer, ask, REPLY_TOKENS, INSTRUCTION)
    found = await arms.measure(talks, setups, progress)
    return [row(setup, outcomes, seed) for setup, outcomes in found.items()]


def row(setup: Setup, outcomes: Sequence[Outcome[Reply]], seed: int) -> Row:
    """The figures of one setup."""
    rows = {}
    for category, name in CATEGORIES.items():
        of_it = [each for each in outcomes if each.case.question.category == category]
        if of_it:
            rows[name] = _figures(of_it, seed)
    return asdict(setup) | _figures(outcomes, seed) | {"categories": rows}


def _figures(outcomes: Sequence[Outcome[Reply]], seed: int) -> Row:
    scores = {arm: [_f1(outcome, arm) for outcome in outcomes] for arm in ARMS}
    differences = [kv - text for kv, text in zip(scores["kv"], scores["text"], strict=True)]
    same = [outcome.arms["kv"].text == outcome.arms["text"].text for outcome in outcomes]
    return {
        "questions": len(outcomes),
        "f1": {arm: mean_of(values, seed) for arm, values in scores.items()},
        "kv_over_text": mean_of(differences, seed),
        "same_reply": round(mean(same), 4),
    }


def _f1(outcome: Outcome[Reply], arm: str) -> float:
    question = outcome.case.question
    return answer_f1(outcome.arms[arm].text, question.answer, question.category)
