"""All parts of the benchmark on an engine without a model: report, sizes, refusals."""

import pytest

from app.composition import silent
from app.models.dummy_model import LLAMA_8B, LLAMA_70B, kv_bytes_per_token
from app.settings import Settings
from benchmarks.speed.bench_parts import measure
from benchmarks.speed.bench_session import chosen_workload, sized_arguments
from benchmarks.speed.prompt_material import random_tokens
from benchmarks.speed.workload import FULL_CPU, FULL_GPU, PREFIX_TOKENS, QUESTION_TOKENS, Workload
from memory_engine.engines.base import EncodeJob
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import EngineStoppedError, SettingsError, UnsupportedModelError
from tests.benchmarks.speed.fake_tiered_engine import FakeTieredEngine, started

WORKLOAD = Workload(ks=(0, 3), fact_tokens=5, repeats=2)
SMALL = Workload(
    ks=(0, 2),
    fact_tokens=5,
    repeats=1,
    host_mib=None,
    fact_lengths=(4, 8),
    concurrency=(2,),
    requests=4,
    output_tokens=(1, 2),
    load_k=2,
    encode_facts=20,
    encode_in_flight=(1,),
    chat_requests=2,
)
MIB = 1 << 20


def tokens(workload: Workload = WORKLOAD) -> list[int]:
    return random_tokens(5000, workload.tokens_needed)


async def test_a_row_has_the_agreed_fields_and_counts() -> None:
    report = await measure(await started(), WORKLOAD, tokens(), silent)
    assert [row["k"] for row in report["rows"]] == [0, 3]
    row = report["rows"][1]
    assert row["prompt_tokens"] == PREFIX_TOKENS + 15 + QUESTION_TOKENS
    assert row["injected_tokens"] == PREFIX_TOKENS + 15
    assert row["missing_segments"] == 0
    assert set(row["text_ttft_ms"]) == set(row["kv_ttft_ms"]) == {"median", "p90"}
    assert row["speedup"] > 0
    assert report["n"] == 2


async def test_what_was_not_asked_for_is_null() -> None:
    report = await measure(await started(), WORKLOAD, tokens(), silent)
    assert report["fact_lengths"] is report["throughput"] is report["encoding"] is None
    assert report["errors"] == report["seconds"] == {}


async def test_everything_at_once_has_every_part() -> None:
    engine = await started()
    report = await measure(engine, SMALL, tokens(SMALL), silent)
    assert report["errors"] == {}
    assert [row["fact_tokens"] for row in report["fact_lengths"]] == [4, 8]
    assert [row["k"] for row in report["fact_lengths"]] == [2, 2]
    assert [row["output_tokens"] for row in report["throughput"]] == [1, 2]
    assert report["encoding"]["facts"] == 20
    assert set(report["seconds"]) == {"fact_lengths", "throughput", "encoding"}
    assert set(report["bytes_held"]) == {"facts", "a_token", "a_fact", "device", "host"}
    assert (await engine.arena()).segments == 0


async def test_the_arena_is_left_empty() -> None:
    engine = await started()
    await measure(engine, WORKLOAD, tokens(), silent)
    assert (await engine.arena()).segments == 0


async def test_a_part_that_fails_does_not_lose_the_others() -> None:
    class Stops(FakeTieredEngine):
        async def encode(self, job: EncodeJob) -> tuple[str, ...]:
            if job.owner == "bench-4":
                raise EngineStoppedError("gone")
            return await super().encode(job)

    report = await measure(await started(Stops()), SMALL, tokens(SMALL), silent)
    assert report["errors"] == {"fact_lengths": "gone"}
    assert report["fact_lengths"] is None
    assert report["throughput"]


async def test_a_refused_model_is_not_measured() -> None:
    engine = FakeEngine(supported=False)
    await engine.start()
    with pytest.raises(UnsupportedModelError, match="told to refuse"):
        await measure(engine, WORKLOAD, tokens(), silent)


async def test_more_tokens_than_the_engine_takes_is_the_users_error() -> None:
    engine = await started(FakeTieredEngine(max_model_len=60))
    with pytest.raises(SettingsError, match="k=3 with 5 tokens a fact needs 68 tokens"):
        await measure(engine, WORKLOAD, tokens(), silent)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ks": ()},
        {"ks": (-1,)},
        {"fact_tokens": 0},
        {"repeats": 0},
        {"concurrency": (0,)},
        {"output_tokens": ()},
        {"host_mib": -1},
        {"tensor_parallel": 0},
    ],
)
def test_a_benchmark_of_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Workload(**wrong)  # type: ignore[arg-type]


def test_the_dummy_models_take_as_much_kv_a_token_as_the_real_ones() -> None:
    assert kv_bytes_per_token(LLAMA_8B, 2) == 128 * 1024
    assert kv_bytes_per_token(LLAMA_70B, 2) == 320 * 1024


def test_the_arena_and_the_context_grow_to_what_the_benchmark_needs() -> None:
    workload = Workload(ks=(0, 200), fact_tokens=40)
    arguments = sized_arguments(Settings(dtype="bfloat16"), workload, LLAMA_8B)
    assert arguments["max_model_len"] >= workload.longest_prompt
    assert arguments["arena_bytes"] >= workload.longest_prompt * 128 * 1024
    assert arguments["host_bytes"] == 0


def test_host_memory_is_as_large_as_the_facts_unless_given() -> None:
    settings = Settings(dtype="bfloat16")
    fitted = sized_arguments(settings, Workload(host_mib=None), LLAMA_8B)
    assert fitted["host_bytes"] > 100 * 24 * 128 * 1024
    given = sized_arguments(settings, Workload(host_mib=1000), LLAMA_8B)
    assert given["host_bytes"] == 1000 * MIB
    with pytest.raises(SettingsError, match="--host-mib 100 does not hold the facts"):
        sized_arguments(settings, Workload(host_mib=100), LLAMA_8B)


def test_a_rank_holds_its_share_of_the_facts() -> None:
    settings = Settings(dtype="bfloat16", arena_mib=16)
    whole = sized_arguments(settings, Workload(), LLAMA_8B)
    half = sized_arguments(settings, Workload(tensor_parallel=2), LLAMA_8B)
    assert half["arena_bytes"] < whole["arena_bytes"]
    assert half["tensor_parallel_size"] == 2
    assert "tensor_parallel_size" not in whole


def test_more_facts_than_the_model_can_read_is_the_users_error() -> None:
    with pytest.raises(SettingsError, match="the model takes 512"):
        sized_arguments(Settings(), Workload(), LLAMA_8B | {"max_position_embeddings": 512})


def test_everything_is_sized_for_the_machine_and_what_is_given_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert chosen_workload(full=False, repeats=None) == Workload()
    monkeypatch.setattr("app.hardware._first_gpu", lambda: ("", 0))
    assert chosen_workload(full=True, load_k=None) == FULL_CPU
    monkeypatch.setattr("app.hardware._first_gpu", lambda: ("NVIDIA Test", 80 << 30))
    assert chosen_workload(full=True) == FULL_GPU
    assert chosen_workload(full=True, repeats=2).repeats == 2
    assert chosen_workload(full=True, concurrency=()).concurrency == ()
