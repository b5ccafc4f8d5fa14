"""Start of vLLM with the InferScale connector."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

import psutil

from memory_engine.engines.memory_budget import gpu_utilization, require_room
from memory_engine.errors import UnsupportedModelError

_GPU_BLOCK = 128  # tokens
# Steps of `nice` between a CPU's engine and this process.
YIELDS = 10


def launch(model: str, **options: Any) -> Any:
    """An `AsyncLLM` that serves. Blocks until the model is loaded.

    Options and errors are those of `engine_config`.
    """
    from vllm.platforms import current_platform
    from vllm.v1.engine.async_llm import AsyncLLM

    from memory_engine.engines.counting import DeferredCounts

    # A forked engine fails where this process has asked CUDA anything, which loading an
    # embedding model does; vLLM sees only what torch initialised.
    os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"
    config = engine_config(model, **options)
    others = set(psutil.Process().children(recursive=True))
    with _children_spared_ctrl_c():
        engine = AsyncLLM.from_vllm_config(config, stat_loggers=[DeferredCounts])
    if current_platform.is_cpu():
        _yield_the_cores(set(psutil.Process().children(recursive=True)) - others)
    return engine


def engine_config(model: str, **options: Any) -> Any:
    """vLLM's configuration of an engine with the connector; options as `engine_options`.

    Raises ArenaTooLargeError if arena and cache do not fit the memory there is, and
    UnsupportedModelError for a model that vLLM cannot run with a connector.
    """
    from vllm.usage.usage_lib import UsageContext

    args = _engine_args(model, **options)
    config = args.create_engine_config(UsageContext.ENGINE_CONTEXT)
    if config.model_config.is_hybrid or config.model_config.is_attention_free:
        raise UnsupportedModelError(
            "The model has layers that keep a state instead of keys and values (Mamba, linear "
            "attention), and vLLM does not run those with a KV connector."
        )
    return config


def _engine_args(model: str, **options: Any) -> Any:
    from vllm import AsyncEngineArgs
    from vllm.config import KVTransferConfig, StructuredOutputsConfig

    given = engine_options(model, **options)
    given["structured_outputs_config"] = StructuredOutputsConfig(
        **given["structured_outputs_config"]
    )
    given["kv_transfer_config"] = KVTransferConfig(**given["kv_transfer_config"])
    return AsyncEngineArgs(model=model, disable_log_stats=False, **given)


def engine_options(
    model: str,
    *,
    connector: dict[str, Any],
    kv_cache_bytes: int | None,
    max_model_len: int | None,
    dtype: str,
    **more: Any,
) -> dict[str, Any]:
    """vLLM's options for an engine with the connector, as plain values by their names.

    connector: the InferScale connector's configuration, at least `arena_bytes`. `more` goes
    to vLLM as it is. Raises ArenaTooLargeError.
    """
    from vllm.platforms import current_platform

    arena_bytes, host_bytes = int(connector["arena_bytes"]), int(connector.get("host_bytes", 0))
    options: dict[str, Any] = {
        "dtype": dtype,
        "max_model_len": max_model_len,
        "kv_cache_memory_bytes": kv_cache_bytes,
        "enable_prefix_caching": True,
        # Where white space may stand between any two tokens of JSON, a greedy model can write
        # nothing else until its tokens are spent. `auto` refuses the flag.
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
        "kv_transfer_config": _transfer_config(connector),
    }
    if current_platform.is_cpu():
        require_room(arena_bytes + host_bytes + (kv_cache_bytes or 0))
        # Compiling costs 50 s a start and gains nothing at this model size: DECISIONS.md.
        return options | {"enforce_eager": True} | more
    require_room(host_bytes)
    if "compilation_config" not in more:
        mode = graph_mode(_head_dim(model, dtype=dtype, max_model_len=max_model_len, **more))
        options["compilation_config"] = {"cudagraph_mode": mode}
    # Every block of a prompt costs host time before its first token. Of 8,052 tokens 500
    # blocks of 16 cost 2 ms more than 126 of 64, and those 0.6 ms more than 63 of 128.
    options["block_size"] = _GPU_BLOCK
    options["gpu_memory_utilization"] = gpu_utilization(arena_bytes, kv_cache_bytes)
    return options | more


def _transfer_config(connector: dict[str, Any]) -> dict[str, Any]:
    return {
        "kv_connector": "InferScaleConnector",
        "kv_connector_module_path": "memory_engine.connector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"end_with_parent": True} | connector,
    }


def graph_mode(head_dim: int) -> str:
    """vLLM's CUDA graphs for a model whose attention heads have so many dimensions.

    Prefills as short as those of KV mode are bound by launches, which a graph of the whole
    step saves; vLLM falls back by itself where it cannot capture one. Such a graph is for
    prefill and decode, and FlashAttention 3 plans the two alike for 65 to 128 dimensions
    only: with others its decoding reads another plan than was made (DECISIONS.md).
    """
    return "FULL" if 64 < head_dim <= 128 else "FULL_AND_PIECEWISE"


def _head_dim(model: str, **options: Any) -> int:
    from vllm import AsyncEngineArgs

    return int(AsyncEngineArgs(model=model, **options).create_model_config().get_head_size())


def _yield_the_cores(engine: set[psutil.Process]) -> None:
    # The engine computes on all cores, also while a page draws its first token: those who
    # show what it says go first. A thread has a priority of its own, which those that it
    # starts inherit.
    priority = min(19, os.getpriority(os.PRIO_PROCESS, 0) + YIELDS)
    for process in engine:
        with suppress(psutil.NoSuchProcess):
            for thread in process.threads():
                with suppress(ProcessLookupError):
                    os.setpriority(os.PRIO_PROCESS, thread.id, priority)


@contextmanager
def _children_spared_ctrl_c() -> Iterator[None]:
    # A terminal sends Ctrl-C to every process of the group. The engine is needed until this
    # process has finished what it is doing and stops it. A child inherits the signal mask of
    # the thread that starts it. Python's resource tracker unblocks the signal when it starts,
    # so it starts before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
