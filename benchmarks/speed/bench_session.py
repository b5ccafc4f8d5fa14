"""Session of a benchmark: engine and material, the parts, then the report."""

import asyncio
import dataclasses
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from app.composition import Progress, open_embedder
from app.hardware import hardware
from app.models.dummy_model import kv_bytes_per_token, kv_shape, write_shape
from app.models.engine_choice import (
    DTYPE_BYTES,
    MIB,
    build_engine,
    cache_dtype,
    engine_arguments,
    keep_loaded,
    start_engine,
)
from app.models.model_choice import choose_model, config_of, stay_offline
from app.settings import Settings
from benchmarks.speed.bandwidth import CacheShape, measure_bandwidth
from benchmarks.speed.bench_parts import measure
from benchmarks.speed.chat_beside_import import Recall
from benchmarks.speed.prompt_material import random_tokens, word_tokens
from benchmarks.speed.targets import judged
from benchmarks.speed.workload import FULL_CPU, FULL_GPU, QUICK, Workload, prompt_tokens
from memory_engine.errors import EngineError, SettingsError

ROOM = 64  # tokens beyond the longest prompt: the engine's own rounding
ENCODE_FACTS = FULL_GPU.encode_facts
# vLLM's options for a model that is a shape.
DUMMY: dict[str, Any] = {"load_format": "dummy", "skip_tokenizer_init": True}
SPARE_MIB = 64  # of the arena, beyond what the facts need
PROMPTS_HELD = 4  # how many longest prompts vLLM's cache can hold at once


def chosen_workload(*, full: bool, **given: Any) -> Workload:
    """Choose the quick workload, or this machine's full one, with the given fields (not None)."""
    base = QUICK if not full else FULL_GPU if hardware().gpu else FULL_CPU
    return dataclasses.replace(base, **{k: v for k, v in given.items() if v is not None})


async def run_bench(
    settings: Settings,
    workload: Workload,
    dummy: str,
    folder: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Start an engine, measure, stop it. `folder` is a scratch folder for a dummy model."""
    stay_offline(settings)
    started = perf_counter()
    model, config, token_ids = await measured_model(settings, workload, dummy, folder)
    arguments = sized_arguments(settings, workload, config) | (DUMMY if dummy else {})
    async with _recall(settings, workload) as recall:
        alone, failed = await _bandwidth(settings, workload, config, progress)
        progress(f"Loading {dummy or model} ...")
        engine = await asyncio.to_thread(build_engine, model, arguments)
        try:
            await start_engine(engine)
            # As `inferscale serve` does once it listens.
            keep_loaded()
            loaded = perf_counter()
            report = await measure(engine, workload, token_ids, progress, recall)
        finally:
            await engine.aclose()
    report |= {"model": dummy or Path(model).name, "dtype": arguments["dtype"], "bandwidth": alone}
    report["errors"] |= failed
    report["seconds"] |= {
        "start": round(loaded - started, 1),
        "all": round(perf_counter() - started, 1),
    }
    return report | {"targets": judged(report)}


async def measured_model(
    settings: Settings, workload: Workload, dummy: str, folder: Path
) -> tuple[str, dict[str, Any], list[int]]:
    """Choose the model to measure; return its folder, its config, and token ids for prompts."""
    if dummy:
        config = await asyncio.to_thread(_require_gpu_and_write, dummy, folder)
        return str(folder), config, random_tokens(config["vocab_size"], workload.tokens_needed)
    model = await asyncio.to_thread(choose_model, settings)
    config = await asyncio.to_thread(config_of, model)
    return model, config, await asyncio.to_thread(word_tokens, model, workload.tokens_needed)


@asynccontextmanager
async def _recall(settings: Settings, workload: Workload) -> AsyncIterator[Recall | None]:
    """Open the embedder; yield a message's recall as in the product, but for the search."""
    if not workload.encode_facts:
        yield None
        return
    async with open_embedder(settings) as embedder:
        yield lambda: embedder.embed(["What is the name of my sister's cat?"])


def sized_arguments(
    settings: Settings, workload: Workload, config: dict[str, Any]
) -> dict[str, Any]:
    """Size engine arguments for all facts, here and on the host, and for the prompts.

    Raises SettingsError if the model or the given host memory is too small.
    """
    arguments = engine_arguments(settings) | {"snapshot_folder": None, "owner_share": 1.0}
    needed = workload.longest_prompt + workload.longest_reply + ROOM
    limit = int(config.get("max_position_embeddings", needed))
    if needed > limit:
        k, length = workload.longest
        raise SettingsError(
            f"k={k} with {length} tokens a fact needs {needed} tokens; "
            f"the model takes {limit}. Give a smaller --k or --fact-tokens."
        )
    a_token = kv_bytes_per_token(config, DTYPE_BYTES[cache_dtype(settings, config)])
    arguments["max_model_len"] = min(limit, max(settings.max_model_len, needed))
    of_a_rank = a_token // workload.tensor_parallel
    held = workload.held_tokens * of_a_rank + SPARE_MIB * MIB
    # Whole tokens: the engine tells the bytes of one by dividing.
    arguments["arena_bytes"] = max(arguments["arena_bytes"], held) // of_a_rank * of_a_rank
    arguments["host_bytes"] = _host_bytes(workload, workload.host_tokens * of_a_rank)
    if arguments["kv_cache_bytes"] is not None:
        under_load = (
            prompt_tokens(workload.load_k, workload.fact_tokens) + workload.longest_reply + ROOM
        )
        in_cache = max(PROMPTS_HELD * needed, max(workload.concurrency, default=0) * under_load)
        arguments["kv_cache_bytes"] = max(arguments["kv_cache_bytes"], in_cache * a_token)
    if workload.tensor_parallel > 1:
        arguments["tensor_parallel_size"] = workload.tensor_parallel
    return arguments


def _host_bytes(workload: Workload, held: int) -> int:
    """Host memory a rank, for all segments that the arena may have to hold."""
    if workload.host_mib is None:
        return held
    if 0 < workload.host_mib * MIB < held:
        raise SettingsError(
            f"--host-mib {workload.host_mib} does not hold the facts: give {math.ceil(held / MIB)} "
            "or more, or 0 for no such measurement."
        )
    return workload.host_mib * MIB


async def _bandwidth(
    settings: Settings, workload: Workload, config: dict[str, Any], progress: Progress
) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Time the injection alone; None where it is not wanted, and the errors."""
    if not workload.bandwidth or not hardware().gpu:
        return None, {}
    layers, kv_heads, head_dim = kv_shape(config)
    heads = max(1, kv_heads // workload.tensor_parallel)
    shape = CacheShape(layers, heads, head_dim, cache_dtype(settings, config))
    progress("Timing the injection alone ...")
    try:
        return await asyncio.to_thread(measure_bandwidth, shape, workload.fact_tokens), {}
    except EngineError as error:
        return None, {"bandwidth": str(error)}


def _require_gpu_and_write(name: str, folder: Path) -> dict[str, Any]:
    config = write_shape(name, folder)
    if not hardware().gpu:
        raise SettingsError(
            f"--dummy-model {name} needs an NVIDIA GPU, and this machine has none. Run "
            "`inferscale bench` without it to measure the configured model."
        )
    return config
