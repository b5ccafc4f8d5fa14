"""Fidelity of injected KV against text: likelihood of the gold answers, and replies.

Teacher-forced negative log likelihood of the gold answer in nats a token, for the same
question in every arm. retained = (none - KV) / (none - text): 1 is
all that facts as text gain over no facts.

Agreement is the share of tokens that are text's: of greedy replies, place by place, where one
other token moves all that follow; and forced, of what the model would have said at each place
of the gold answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import mean
from time import perf_counter
from typing import Any

from app.composition import Progress
from app.figures import distribution
from app.settings import Settings
from benchmarks.quality.arms.arm_runner import ARMS, ArmResults, ArmRunner
from benchmarks.quality.arms.cases import ConversationCases
from benchmarks.quality.arms.scoring import ScoredAnswer, score
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.datasets.locomo import CATEGORIES, LocomoQuestion
from benchmarks.quality.eval_session import (
    QuestionSelection,
    prepare_conversations,
    provenance,
    serving_engine,
)
from benchmarks.quality.intervals import RESAMPLES, agreement, divergence, mean_of, retained
from memory_engine.engines.base import Engine
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import Mode, Prompt

ANSWER_TOKENS = 16  # a longer gold answer is cut off there, in all arms
REPLY_TOKENS = 24

YARDSTICKS = ("reordered", "relevance")
COMPARED = ("kv", *YARDSTICKS, "none")  # with text

Row = dict[str, Any]


async def run_fidelity(
    settings: Settings, selection: QuestionSelection, setups: Sequence[Setup], progress: Progress
) -> dict[str, Any]:
    """Run the evaluation from start to end, with an engine for every way to store KV."""
    started = perf_counter()
    conversations = await prepare_conversations(settings, selection, setups, progress)
    report: dict[str, Any] = {}
    rows: list[Row] = []
    for store in dict.fromkeys(setup.store for setup in setups):
        of_engine = settings.model_copy(update={"store_dtype": store})
        async with serving_engine(of_engine, conversations, progress) as (engine, tokenizer):
            report = report or provenance(settings, engine, selection, conversations)
            wanted = [setup for setup in setups if setup.store == store]
            rows += await measure_fidelity(
                engine, tokenizer, conversations, wanted, selection.seed, progress
            )
    report |= {
        "answer_tokens": ANSWER_TOKENS,
        "reply_tokens": REPLY_TOKENS,
        "resamples": RESAMPLES,
        "rows": rows,
        "seconds": round(perf_counter() - started, 1),
    }
    return report | {"targets": judged(rows)}


async def measure_fidelity(
    engine: Engine,
    tokenizer: ChatTokenizer,
    conversations: Sequence[ConversationCases],
    setups: Sequence[Setup],
    seed: int,
    progress: Progress,
) -> list[Row]:
    """Measure a row for every setup, ready for JSON. seed: of the bootstrap."""

    async def ask(prompt: Prompt, mode: Mode, question: LocomoQuestion) -> ScoredAnswer:
        answer = tokenizer.encode(question.answer)[:ANSWER_TOKENS]
        return await score(engine, prompt, mode, answer, REPLY_TOKENS)

    arms = ArmRunner(engine, tokenizer, ask, max(ANSWER_TOKENS, REPLY_TOKENS))
    found = await arms.measure(conversations, setups, progress)
    return [row(setup, results, seed) for setup, results in found.items()]


def row(setup: Setup, results: Sequence[ArmResults[ScoredAnswer]], seed: int) -> Row:
    """Summarise one setup."""
    nll = {arm: [result.arms[arm].nll for result in results] for arm in ARMS}
    same = {arm: [_agreement(result, arm) for result in results] for arm in ARMS}
    forced = {arm: [_forced_agreement(result, arm) for result in results] for arm in ARMS}
    usages = [result.arms["kv"].reply.usage for result in results]
    return asdict(setup) | {
        "questions": len(results),
        "nll": {arm: round(mean(values), 4) for arm, values in nll.items()},
        "retained": {
            arm: retained(nll["none"], nll["text"], nll[arm], seed) for arm in ("kv", *YARDSTICKS)
        },
        "kl": {
            arm: distribution([_divergence(result, arm) for result in results]) for arm in COMPARED
        },
        "agreement": {arm: mean_of(same[arm], seed) for arm in COMPARED},
        "agreement_over": _differences(same, seed),
        "forced_agreement": {arm: mean_of(forced[arm], seed) for arm in COMPARED},
        "forced_agreement_over": _differences(forced, seed),
        "categories": _by_category(results, seed),
        "evidence_facts": round(mean(len(result.case.evidence) for result in results), 2),
        "prompt_tokens": round(mean(usage.prompt_tokens for usage in usages), 1),
        "injected_tokens": round(mean(usage.injected_tokens for usage in usages), 1),
    }


def judged(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Judge the targets, for every row with default settings."""
    found = []
    for each in rows:
        if any(each[name] != value for name, value in asdict(Setup(each["k"])).items()):
            continue
        kept, k = each["retained"]["kv"], each["k"]
        aims = (
            (f"retained, k={k}", kept["value"], 1.0),
            (f"retained, k={k}, lower end of its interval", kept["low"], 0.95),
            (
                f"likeliest tokens that are text's, k={k}, beyond those of text by relevance",
                each["forced_agreement_over"]["relevance"]["value"],
                0.0,
            ),
        )
        for name, measured, at_least in aims:
            reached = None if measured is None else measured >= at_least
            found.append(
                {"name": name, "at_least": at_least, "measured": measured, "reached": reached}
            )
    return found


def _by_category(results: Sequence[ArmResults[ScoredAnswer]], seed: int) -> dict[str, Row]:
    rows = {}
    for category, name in CATEGORIES.items():
        of_it = [each for each in results if each.case.question.category == category]
        if not of_it:
            continue
        nll = {arm: [result.arms[arm].nll for result in of_it] for arm in ARMS}
        rows[name] = {
            "questions": len(of_it),
            "nll": {arm: round(mean(values), 4) for arm, values in nll.items()},
            "retained": retained(nll["none"], nll["text"], nll["kv"], seed),
            "agreement": mean_of([_agreement(result, "kv") for result in of_it], seed),
        }
    return rows


def _differences(same: Mapping[str, Sequence[float]], seed: int) -> Row:
    """Differences between the agreement of KV with text and that of changed text with text."""
    return {
        arm: mean_of([kv - other for kv, other in zip(same["kv"], same[arm], strict=True)], seed)
        for arm in YARDSTICKS
    }


def _agreement(result: ArmResults[ScoredAnswer], arm: str) -> float:
    replies = result.arms["text"].reply, result.arms[arm].reply
    return agreement(replies[0].token_ids, replies[1].token_ids)


def _forced_agreement(result: ArmResults[ScoredAnswer], arm: str) -> float:
    return agreement(result.arms["text"].likeliest, result.arms[arm].likeliest)


def _divergence(result: ArmResults[ScoredAnswer], arm: str) -> float:
    return divergence(result.arms["text"].first, result.arms[arm].first)
