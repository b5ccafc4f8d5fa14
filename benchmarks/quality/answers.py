"""Token F1 of greedy replies to LoCoMo's questions, by arm."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import mean
from time import perf_counter
from typing import Any

from app.composition import Progress
from app.settings import Settings
from benchmarks.quality.arms.arm_runner import ARMS, ArmResults, ArmRunner
from benchmarks.quality.arms.cases import ConversationCases
from benchmarks.quality.arms.scoring import GreedyReply, greedy_reply
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.datasets.locomo import CATEGORIES, LocomoQuestion
from benchmarks.quality.eval_session import (
    QuestionSelection,
    prepare_conversations,
    provenance,
    serving_engine,
)
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
    settings: Settings, selection: QuestionSelection, setups: Sequence[Setup], progress: Progress
) -> dict[str, Any]:
    """Run the evaluation from start to end; all setups store KV as the settings say."""
    started = perf_counter()
    conversations = await prepare_conversations(settings, selection, setups, progress)
    async with serving_engine(settings, conversations, progress) as (engine, tokenizer):
        report = provenance(settings, engine, selection, conversations)
        rows = await measure_answers(
            engine, tokenizer, conversations, setups, selection.seed, progress
        )
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
    conversations: Sequence[ConversationCases],
    setups: Sequence[Setup],
    seed: int,
    progress: Progress,
) -> list[Row]:
    """Measure a row for every setup, ready for JSON. seed: of the bootstrap."""

    async def ask(prompt: Prompt, mode: Mode, question: LocomoQuestion) -> GreedyReply:
        return await greedy_reply(engine, prompt, mode, REPLY_TOKENS)

    arms = ArmRunner(engine, tokenizer, ask, REPLY_TOKENS, INSTRUCTION)
    found = await arms.measure(conversations, setups, progress)
    return [row(setup, results, seed) for setup, results in found.items()]


def row(setup: Setup, results: Sequence[ArmResults[GreedyReply]], seed: int) -> Row:
    """Summarise one setup."""
    rows = {}
    for category, name in CATEGORIES.items():
        of_it = [each for each in results if each.case.question.category == category]
        if of_it:
            rows[name] = _figures(of_it, seed)
    return asdict(setup) | _figures(results, seed) | {"categories": rows}


def _figures(results: Sequence[ArmResults[GreedyReply]], seed: int) -> Row:
    scores = {arm: [_f1(result, arm) for result in results] for arm in ARMS}
    differences = [kv - text for kv, text in zip(scores["kv"], scores["text"], strict=True)]
    same = [result.arms["kv"].text == result.arms["text"].text for result in results]
    return {
        "questions": len(results),
        "f1": {arm: mean_of(values, seed) for arm, values in scores.items()},
        "kv_over_text": mean_of(differences, seed),
        "same_reply": round(mean(same), 4),
    }


def _f1(result: ArmResults[GreedyReply], arm: str) -> float:
    question = result.case.question
    return answer_f1(result.arms[arm].text, question.answer, question.category)
