"""The session of a benchmark: sizes of the engine, and the choice of a workload."""

import pytest

from app.models.dummy_model import LLAMA_8B
from app.settings import Settings
from benchmarks.speed.bench_session import chosen_workload, sized_arguments
from benchmarks.speed.workload import FULL_CPU, FULL_GPU, Workload
from memory_engine.errors import SettingsError

MIB = 1 << 20


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
