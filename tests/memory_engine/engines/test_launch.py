"""How vLLM is started: in a process of its own that shares nothing with this one."""

import os
from typing import Any

import pytest

from memory_engine.engines import launch


def test_the_engine_is_spawned_whatever_this_process_has_asked_of_the_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from vllm.v1.engine.async_llm import AsyncLLM

    methods: list[str | None] = []

    def start(config: Any) -> str:
        methods.append(os.environ.get("VLLM_WORKER_MULTIPROC_METHOD"))
        return "running"

    monkeypatch.setenv("VLLM_WORKER_MULTIPROC_METHOD", "fork")
    monkeypatch.setattr(launch, "engine_config", lambda model, **options: "configured")
    monkeypatch.setattr(AsyncLLM, "from_vllm_config", start)
    assert launch.launch("model") == "running"
    assert methods == ["spawn"]
