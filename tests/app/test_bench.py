"""The benchmark's arithmetic and its shape, on an engine without a model."""

import pytest

from app.bench import PREFIX_TOKENS, QUESTION_TOKENS, Bench, Material, measure
from app.bench_engine import random_tokens, sized_arguments
from app.dummy_model import LLAMA_8B, kv_bytes_per_token
from app.figures import speedup, spread
from app.settings import Settings
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import SettingsError, UnsupportedModelError
from memory_engine.types import Mode, Prompt, Sampling

BENCH = Bench(ks=(0, 3), fact_tokens=5, repeats=2)


def material(bench: Bench = BENCH) -> Material:
    return Material.cut_from(random_tokens(5000, bench.longest_prompt), bench)


async def started(**options: object) -> FakeEngine:
    engine = FakeEngine(**options)  # type: ignore[arg-type]
    await engine.start()
    return engine


def test_every_fact_has_exactly_the_tokens_asked_for() -> None:
    cut = material()
    assert [len(fact) for fact in cut.facts] == [5, 5, 5]
    assert len(cut.prefix) == PREFIX_TOKENS
    assert len(cut.question) == QUESTION_TOKENS


def test_a_prompt_is_prefix_facts_question_and_its_spans_cover_the_first_two() -> None:
    cut = material()
    prompt = cut.prompt(3)
    assert prompt.token_ids == cut.prefix + sum(cut.facts, []) + cut.question  # noqa: RUF017
    ends = [span.start + span.length for span in prompt.spans]
    assert [span.start for span in prompt.spans] == [0, *ends[:-1]]
    assert ends[-1] == len(prompt.token_ids) - QUESTION_TOKENS


async def test_a_row_has_the_agreed_fields_and_counts() -> None:
    engine = await started()
    report = await measure(engine, BENCH, material(), lambda text: None)
    assert [row["k"] for row in report["rows"]] == [0, 3]
    row = report["rows"][1]
    assert row["prompt_tokens"] == PREFIX_TOKENS + 15 + QUESTION_TOKENS
    assert row["injected_tokens"] == PREFIX_TOKENS + 15
    assert row["missing_segments"] == 0
    assert set(row["text_ttft_ms"]) == set(row["kv_ttft_ms"]) == {"median", "p90"}
    assert row["speedup"] > 0
    assert report["n"] == 2


async def test_text_and_kv_never_share_a_prefix_cache_and_take_turns() -> None:
    asked: list[tuple[Mode, str]] = []

    class Watched(FakeEngine):
        async def generate(self, prompt: Prompt, mode: Mode, sampling: Sampling):  # type: ignore[no-untyped-def]
            asked.append((mode, sampling.cache_salt))
            async for chunk in super().generate(prompt, mode, sampling):
                yield chunk

    engine = Watched()
    await engine.start()
    await measure(engine, Bench((1,), 4, 2), material(), lambda text: None)
    assert all(salt for _, salt in asked)
    salts = [salt for _, salt in asked]
    warm = asked[0][1]
    assert salts.count(warm) == 4  # one filling run, then one a turn
    assert len(set(salts)) == len(salts) - 3  # everybody else is alone
    turns = [[mode for mode, _ in asked[1 + 3 * t : 4 + 3 * t]] for t in range(3)]
    assert turns[0] != turns[1]
    assert [mode for mode, _ in asked].count(Mode.KV) == 3


async def test_the_arena_is_left_empty() -> None:
    engine = await started()
    await measure(engine, BENCH, material(), lambda text: None)
    assert (await engine.arena()).segments == 0


async def test_a_refused_model_is_not_measured() -> None:
    engine = await started(supported=False)
    with pytest.raises(UnsupportedModelError, match="told to refuse"):
        await measure(engine, BENCH, material(), lambda text: None)


async def test_more_tokens_than_the_engine_takes_is_the_users_error() -> None:
    engine = await started(max_model_len=60)
    with pytest.raises(SettingsError, match="k=3 with 5 tokens a fact needs 68 tokens"):
        await measure(engine, BENCH, material(), lambda text: None)


@pytest.mark.parametrize("wrong", [{"ks": ()}, {"ks": (-1,)}, {"fact_tokens": 0}, {"repeats": 0}])
def test_a_benchmark_of_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Bench(**wrong)  # type: ignore[arg-type]


def test_the_dummy_8b_takes_128_kib_of_kv_a_token() -> None:
    assert kv_bytes_per_token(LLAMA_8B, 2) == 128 * 1024


def test_the_arena_and_the_context_grow_to_what_the_benchmark_needs() -> None:
    bench = Bench(ks=(0, 200), fact_tokens=40)
    arguments = sized_arguments(Settings(dtype="bfloat16"), bench, LLAMA_8B)
    assert arguments["max_model_len"] >= bench.longest_prompt
    assert arguments["arena_bytes"] >= bench.longest_prompt * 128 * 1024


def test_more_facts_than_the_model_can_read_is_the_users_error() -> None:
    with pytest.raises(SettingsError, match="the model takes 512"):
        sized_arguments(Settings(), Bench(), LLAMA_8B | {"max_position_embeddings": 512})


def test_spread_and_speedup_come_from_medians() -> None:
    assert spread([1.0, 2.0, 10.0]) == {"median": 2.0, "p90": 8.4}
    assert spread([3.0]) == {"median": 3.0, "p90": 3.0}
    assert speedup([10.0, 20.0, 900.0], [2.0, 4.0, 1.0]) == 10.0
