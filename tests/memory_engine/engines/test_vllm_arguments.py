"""Arguments that vLLM is started with, in a process that shares nothing with this one."""

import os
from pathlib import Path
from typing import Any

import pytest
from transformers import LlamaConfig

from memory_engine.engines import vllm_arguments as launch
from memory_engine.errors import ArenaTooLargeError


def test_a_schema_is_enforced_without_room_for_blanks(tmp_path: Path) -> None:
    LlamaConfig().save_pretrained(tmp_path)
    args = launch._engine_args(
        str(tmp_path),
        connector={"arena_bytes": 2**20},
        kv_cache_bytes=2**20,
        max_model_len=256,
        dtype="float32",
    )
    assert args.structured_outputs_config.backend == "xgrammar"
    assert args.structured_outputs_config.disable_any_whitespace is True


def test_the_engine_is_spawned_whatever_this_process_has_asked_of_the_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from vllm.v1.engine.async_llm import AsyncLLM

    from memory_engine.engines.counting import DeferredCounts

    methods: list[str | None] = []

    def start(config: Any, stat_loggers: list[type]) -> str:
        assert stat_loggers == [DeferredCounts]
        methods.append(os.environ.get("VLLM_WORKER_MULTIPROC_METHOD"))
        return "running"

    monkeypatch.setenv("VLLM_WORKER_MULTIPROC_METHOD", "fork")
    monkeypatch.setattr(launch, "engine_config", lambda model, **options: "configured")
    monkeypatch.setattr(AsyncLLM, "from_vllm_config", start)
    assert launch.launch("model") == "running"
    assert methods == ["spawn"]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU of 100 GiB, as far as options are concerned."""
    from vllm.platforms import current_platform

    platform = type(current_platform)
    monkeypatch.setattr(platform, "is_cpu", lambda self: False)
    monkeypatch.setattr(platform, "get_device_total_memory", lambda self: 100 << 30)


def on_gpu(arena_gib: int, kv_cache_gib: int | None) -> dict[str, Any]:
    return launch.engine_options(
        "model",
        connector={"arena_bytes": arena_gib << 30},
        kv_cache_bytes=None if kv_cache_gib is None else kv_cache_gib << 30,
        max_model_len=256,
        dtype="bfloat16",
        compilation_config={},
    )


@pytest.mark.usefixtures("gpu")
def test_a_cache_of_a_given_size_leaves_the_rest_of_the_gpu_to_others() -> None:
    """vLLM wants most of it free otherwise: a second engine beside the first did not start."""
    assert on_gpu(8, None)["gpu_memory_utilization"] == pytest.approx(0.80)
    assert on_gpu(8, 16)["gpu_memory_utilization"] == pytest.approx(0.24)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(("arena", "cache"), [(70, None), (70, 20)])
def test_an_arena_that_leaves_no_room_for_the_model_is_refused(
    arena: int, cache: int | None
) -> None:
    with pytest.raises(ArenaTooLargeError, match="too little of the GPU's 102400 MiB"):
        on_gpu(arena, cache)


@pytest.mark.parametrize(
    ("head_dim", "mode"),
    [
        (48, "FULL_AND_PIECEWISE"),
        (64, "FULL_AND_PIECEWISE"),
        (80, "FULL"),
        (128, "FULL"),
        (256, "FULL_AND_PIECEWISE"),
    ],
)
def test_graphs_of_whole_steps_are_for_heads_whose_decoding_is_planned_like_their_prefill(
    head_dim: int, mode: str
) -> None:
    assert launch.graph_mode(head_dim) == mode


def test_the_head_size_is_that_of_the_model(tmp_path: Path) -> None:
    LlamaConfig(hidden_size=384, num_attention_heads=4).save_pretrained(tmp_path)
    assert launch._head_dim(str(tmp_path), dtype="float32", max_model_len=256) == 96
