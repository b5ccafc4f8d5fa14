"""Does injected KV lose anything against text? Likelihood of the gold answers, and replies.

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

from app.figures import distribution
from app.settings import Settings
from benchmarks.quality.arms.arm_runner import ARMS, Arms, Outcome
from benchmarks.quality.arms.cases import Talk
from benchmarks.quality.arms.scoring import Scored, score
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.datasets.locomo import CATEGORIES, Question
from benchmarks.quality.eval_session import Asked, Progress, about, prepared, served
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
    settings: Settings, asked: Asked, setups: Sequence[Setup], progress: Progress
) -> dict[str, Any]:
    """The whole evaluation, an engine for every way to store KV; the report."""
    started = perf_counter()
    talks = await prepared(settings, asked, setups, progress)
    report: dict[str, Any] = {}
    rows: list[Row] = []
    for store in dict.fromkeys(setup.store for setup in setups):
        of_engine = settings.model_copy(update={"store_dtype": store})
        async with served(of_engine, talks, progress) as (engine, tokenizer):
            report = report or about(settings, engine, asked, talks)
            wanted = [setup for setup in setups if setup.store == store]
            rows += await measure_fidelity(engine, tokenizer, talks, wanted, asked.seed, progress)
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
    talks: Sequence[Talk],
    setups: Sequence[Setup],
    seed: int,
    progress: Progress,
) -> list[Row]:
    """A row for every setup, ready for JSON. seed: of the bootstrap."""

    async def ask(prompt: Prompt, mode: Mode, question: Question) -> Scored:
        answer = tokenizer.encode(question.answer)[:ANSWER_TOKENS]
        return await score(engine, prompt, mode, answer, REPLY_TOKENS)

    arms = Arms(engine, tokenizer, ask, max(ANSWER_TOKENS, REPLY_TOKENS))
    found = await arms.measure(talks, setups, progress)
    return [row(setup, outcomes, seed) for setup, outcomes in found.items()]


def row(setup: Setup, outcomes: Sequence[Outcome[Scored]], seed: int) -> Row:
    """The figures of one setup."""
    nll = {arm: [outcome.arms[arm].nll for outcome in outcomes] for arm in ARMS}
    same = {arm: [_agreement(outcome, arm) for outcome in outcomes] for arm in ARMS}
    forced = {arm: [_forced_agreement(outcome, arm) for outcome in outcomes] for arm in ARMS}
    usages = [outcome.arms["kv"].reply.usage for outcome in outcomes]
    return asdict(setup) | {
        "questions": len(outcomes),
        "nll": {arm: round(mean(values), 4) for arm, values in nll.items()},
        "retained": {
            arm: retained(nll["none"], nll["text"], nll[arm], seed) for arm in ("kv", *YARDSTICKS)
        },
        "kl": {
            arm: distribution([_divergence(outcome, arm) for outcome in outcomes])
            for arm in COMPARED
        },
        "agreement": {arm: mean_of(same[arm], seed) for arm in COMPARED},
        "agreement_over": _differences(same, seed),
        "forced_agreement": {arm: mean_of(forced[arm], seed) for arm in COMPARED},
        "forced_agreement_over": _differences(forced, seed),
        "categories": _by_category(outcomes, seed),
        "evidence_facts": round(mean(len(outcome.case.evidence) for outcome in outcomes), 2),
        "prompt_tokens": round(mean(usage.prompt_tokens for usage in usages), 1),
        "injected_tokens": round(mean(usage.injected_tokens for usage in usages), 1),
    }


def judged(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What is aimed at, for every row with default settings."""
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


def _by_category(outcomes: Sequence[Outcome[Scored]], seed: int) -> dict[str, Row]:
    rows = {}
    for category, name in CATEGORIES.items():
        of_it = [each for each in outcomes if each.case.question.category == category]
        if not of_it:
            continue
        nll = {arm: [outcome.arms[arm].nll for outcome in of_it] for arm in ARMS}
        rows[name] = {
            "questions": len(of_it),
            "nll": {arm: round(mean(values), 4) for arm, values in nll.items()},
            "retained": retained(nll["none"], nll["text"], nll["kv"], seed),
            "agreement": mean_of([_agreement(outcome, "kv") for outcome in of_it], seed),
        }
    return rows


def _differences(same: Mapping[str, Sequence[float]], seed: int) -> Row:
    """How much more KV agrees with text than text does with itself, changed."""
    return {
        arm: mean_of([kv - other for kv, other in zip(same["kv"], same[arm], strict=True)], seed)
        for arm in YARDSTICKS
    }


def _agreement(outcome: Outcome[Scored], arm: str) -> float:
    replies = outcome.arms["text"].reply, outcome.arms[arm].reply
    return agreement(replies[0].token_ids, replies[1].token_ids)


def _forced_agreement(outcome: Outcome[Scored], arm: str) -> float:
    return agreement(outcome.arms["text"].likeliest, outcome.arms[arm].likeliest)


def _divergence(outcome: Outcome[Scored], arm: str) -> float:
    return divergence(outcome.arms["text"].first, outcome.arms[arm].first)
