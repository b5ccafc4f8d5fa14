"""Time to first token with k facts as text and as injected KV, in one run on one engine.

Text is measured cold (a fresh cache salt a run, so vLLM's prefix cache has nothing) and
warm (the same prompt again). KV is also measured with a fresh salt a run: the facts come
from the arena, not from the prefix cache. Modes take turns and the first turn is dropped.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.figures import speedup, spread
from app.hardware import hardware, versions
from memory_engine.engines.base import EncodeJob, Engine
from memory_engine.errors import EngineError, SettingsError, UnsupportedModelError
from memory_engine.types import Mode, Prompt, Sampling, Span, Usage

OWNER = "bench"
PREFIX_TOKENS = 32
QUESTION_TOKENS = 20
FACTS_A_JOB = 16
WARM_UPS = 1


@dataclass(frozen=True, slots=True)
class Bench:
    """What to measure: numbers of facts, tokens a fact, and measured turns."""

    ks: tuple[int, ...] = (0, 10, 50, 100)
    fact_tokens: int = 24
    repeats: int = 5

    def __post_init__(self) -> None:
        if not self.ks or min(self.ks) < 0:
            raise SettingsError(f"--k {self.ks} cannot work: give numbers of 0 or more.")
        if self.fact_tokens < 1 or self.repeats < 1:
            raise SettingsError("--fact-tokens and --repeats must be 1 or more.")

    @property
    def longest_prompt(self) -> int:
        """Tokens of the longest prompt."""
        return PREFIX_TOKENS + max(self.ks) * self.fact_tokens + QUESTION_TOKENS


@dataclass(frozen=True, slots=True)
class Material:
    """Token ids of the prefix, of every fact and of the question."""

    prefix: list[int]
    facts: list[list[int]]
    question: list[int]

    @classmethod
    def cut_from(cls, token_ids: Sequence[int], bench: Bench) -> "Material":
        """Cut a run of at least `bench.longest_prompt` token ids into pieces."""
        assert len(token_ids) >= bench.longest_prompt, "too few tokens for the facts"
        ids = list(token_ids)
        facts_end = PREFIX_TOKENS + max(bench.ks) * bench.fact_tokens
        starts = range(PREFIX_TOKENS, facts_end, bench.fact_tokens)
        return cls(
            prefix=ids[:PREFIX_TOKENS],
            facts=[ids[start : start + bench.fact_tokens] for start in starts],
            question=ids[facts_end : facts_end + QUESTION_TOKENS],
        )

    def segments(self, facts: Sequence[int]) -> tuple[list[int], tuple[Span, ...]]:
        """The prefix and these facts as token ids, and where each segment lies."""
        token_ids, spans = list(self.prefix), [Span("prefix", 0, len(self.prefix))]
        for number in facts:
            spans.append(Span(f"fact-{number}", len(token_ids), len(self.facts[number])))
            token_ids += self.facts[number]
        return token_ids, tuple(spans)

    def prompt(self, k: int) -> Prompt:
        """Prefix, the first `k` facts, question: the same ids in every mode."""
        token_ids, spans = self.segments(range(k))
        return Prompt(OWNER, token_ids + self.question, spans)


@dataclass(slots=True)
class _Samples:
    text: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    kv: list[float] = field(default_factory=list)
    kv_usage: list[Usage] = field(default_factory=list)


async def measure(
    engine: Engine, bench: Bench, material: Material, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Run the benchmark on a started engine and return the report, ready for JSON."""
    if not engine.conformance.supported:
        raise UnsupportedModelError(f"KV injection is refused: {engine.conformance.reason}")
    if bench.longest_prompt + 1 > engine.info.max_model_len:
        raise SettingsError(
            f"k={max(bench.ks)} with {bench.fact_tokens} tokens a fact needs "
            f"{bench.longest_prompt + 1} tokens; the engine takes {engine.info.max_model_len}."
        )
    try:
        encode = await _encode(engine, material, progress)
        rows = [await _row(engine, bench, material, k, progress) for k in bench.ks]
    finally:
        await engine.drop(OWNER)
    return {
        "model": engine.info.model,
        "device": engine.info.device,
        "conformance": engine.conformance.checks,
        "hardware": hardware().as_json(),
        "versions": versions() | engine.info.versions,
        "fact_tokens": bench.fact_tokens,
        "n": bench.repeats,
        "warm_ups_dropped": WARM_UPS,
        "encode": encode,
        "rows": rows,
    }


async def _encode(
    engine: Engine, material: Material, progress: Callable[[str], None]
) -> dict[str, float]:
    progress(f"Encoding {len(material.facts)} facts ...")
    started = time.perf_counter()
    for first in range(0, max(len(material.facts), 1), FACTS_A_JOB):
        numbers = range(first, min(first + FACTS_A_JOB, len(material.facts)))
        token_ids, spans = material.segments(numbers)
        await engine.encode(EncodeJob(OWNER, token_ids, spans))
    total = (time.perf_counter() - started) * 1000
    arena = await engine.arena()
    return {
        "total_ms": round(total, 1),
        "ms_per_fact": round(total / max(len(material.facts), 1), 2),
        "arena_bytes": arena.tokens_used * engine.info.kv_bytes_per_token,
    }


async def _row(
    engine: Engine, bench: Bench, material: Material, k: int, progress: Callable[[str], None]
) -> dict[str, Any]:
    prompt, samples = material.prompt(k), _Samples()
    warm_salt = uuid.uuid4().hex
    await _first_token(engine, prompt, Mode.TEXT, warm_salt)
    for turn in range(bench.repeats + WARM_UPS):
        progress(f"k={k}: turn {turn + 1} of {bench.repeats + WARM_UPS}")
        kept = samples if turn >= WARM_UPS else _Samples()
        order = ["text", "kv", "warm"]
        for name in order[turn % 3 :] + order[: turn % 3]:
            await _sample(engine, prompt, name, warm_salt, kept)
    usage = samples.kv_usage[-1]
    return {
        "k": k,
        "prompt_tokens": usage.prompt_tokens,
        "text_ttft_ms": spread(samples.text),
        "kv_ttft_ms": spread(samples.kv),
        "speedup": speedup(samples.text, samples.kv),
        "text_warm_ttft_ms": spread(samples.warm),
        "injected_tokens": min(each.injected_tokens for each in samples.kv_usage),
        "prefilled_tokens": max(each.prefilled_tokens for each in samples.kv_usage),
        "missing_segments": max(len(each.missing) for each in samples.kv_usage),
    }


async def _sample(
    engine: Engine, prompt: Prompt, name: str, warm_salt: str, samples: _Samples
) -> None:
    if name == "warm":
        samples.warm.append((await _first_token(engine, prompt, Mode.TEXT, warm_salt))[0])
    elif name == "text":
        samples.text.append((await _first_token(engine, prompt, Mode.TEXT, _fresh()))[0])
    else:
        ttft, usage = await _first_token(engine, prompt, Mode.KV, _fresh())
        samples.kv.append(ttft)
        samples.kv_usage.append(usage)


async def _first_token(
    engine: Engine, prompt: Prompt, mode: Mode, salt: str
) -> tuple[float, Usage]:
    """Milliseconds from asking to the first token, and what the engine says it did."""
    sampling = Sampling(max_tokens=1, cache_salt=salt)
    started, ttft, usage = time.perf_counter(), None, None
    async for chunk in engine.generate(prompt, mode, sampling):
        if ttft is None and (chunk.token_ids or chunk.text):
            ttft = (time.perf_counter() - started) * 1000
        usage = chunk.usage or usage
    if ttft is None or usage is None:
        raise EngineError("The engine ended a reply without a token or without its account.")
    return ttft, usage


def _fresh() -> str:
    return uuid.uuid4().hex
