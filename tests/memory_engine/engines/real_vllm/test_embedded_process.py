"""An engine inside this process: its metrics, and the terminal's Ctrl-C."""

import asyncio
import os
import re
import signal

import psutil
import pytest
from prometheus_client import REGISTRY

from memory_engine.engines.embedded import EmbeddedEngine
from memory_engine.engines.vllm_arguments import YIELDS
from memory_engine.types import Mode, Prompt, Sampling
from tests.memory_engine.engines.test_embedded import cut, encoded, reply, words

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_bundled_model_conforms(real_engine: EmbeddedEngine) -> None:
    assert real_engine.conformance.supported, real_engine.conformance.reason
    checks = real_engine.conformance.checks
    assert set(checks) == {"rope_keys", "position_free_values", "shift", "identity"}
    assert max(checks.values()) < 1e-3


async def test_injected_and_encoded_tokens_reach_prometheus(real_engine: EmbeddedEngine) -> None:
    def counted(name: str) -> float:
        labels = {"model_name": real_engine.info.model, "engine": "0"}
        return REGISTRY.get_sample_value(f"vllm:inferscale_{name}_total", labels) or 0.0

    names = ("planned_tokens", "injected_tokens", "encoded_tokens", "inject_seconds")
    before = [counted(name) for name in names]
    ids = words(80, seed=65)
    prompt = await encoded(real_engine, "anna", ids, cut(ids, [30, 40]))
    await reply(real_engine, prompt, Mode.KV, tokens=2)
    await real_engine.arena()
    grown = [counted(name) - start for name, start in zip(names, before, strict=True)]
    assert grown[:3] == [70, 70, 70]
    assert 0 < grown[3] < 10


async def test_a_token_is_passed_on_before_it_is_counted(
    real_engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vllm.v1.metrics.loggers import PrometheusStatLogger

    happened: list[str] = []
    count = PrometheusStatLogger.record

    def record(self: object, scheduler: object, iteration: object, **more: object) -> None:
        if iteration is not None:
            happened.append("counted")
        count(self, scheduler, iteration, **more)

    monkeypatch.setattr(PrometheusStatLogger, "record", record)
    prompt, sampling = Prompt("anna", words(20, seed=67)), Sampling(max_tokens=1, ignore_eos=True)
    async for chunk in real_engine.generate(prompt, Mode.TEXT, sampling):
        assert len(chunk.token_ids) == 1
        happened.append("token")
    await asyncio.sleep(0)
    assert happened == ["token", "counted"]


async def test_what_is_tokenized_already_goes_through_no_thread_of_vllms(
    real_engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a wait before the first token")

    monkeypatch.setattr(real_engine._llm.input_processor, "process_inputs_async", refuse)
    ids, usage = await reply(real_engine, Prompt("anna", words(20, seed=66)), Mode.TEXT)
    assert len(ids) == 6
    assert usage.prompt_tokens == 20


async def test_ctrl_c_in_the_terminal_leaves_the_engine_to_finish(
    real_engine: EmbeddedEngine,
) -> None:
    prompt = Prompt("anna", words(20, seed=64))
    expected, _ = await reply(real_engine, prompt, Mode.TEXT)
    cores = [each for each in psutil.Process().children() if "EngineCore" in each.name()]
    assert cores
    for process in cores:
        process.send_signal(signal.SIGINT)
    await asyncio.sleep(0.5)
    assert (await reply(real_engine, prompt, Mode.TEXT))[0] == expected


async def test_the_engine_leaves_the_cores_to_who_shows_what_it_says(
    real_engine: EmbeddedEngine,
) -> None:
    ours = psutil.Process()
    named = [each for each in ours.children(recursive=True) if _is_of_an_engine(each, ours)]
    assert any("Worker" in each.name() for each in named)
    for process in named:
        threads = {os.getpriority(os.PRIO_PROCESS, thread.id) for thread in process.threads()}
        assert threads == {min(19, ours.nice() + YIELDS)}


def _is_of_an_engine(process: psutil.Process, ours: psutil.Process) -> bool:
    """Whether it is of an engine that this process started; served ones have a server between."""
    parents = [process, *process.parents()]
    line = parents[: parents.index(ours)]
    return all(re.match("VLLM::(EngineCor|Worker)", each.name()) for each in line)
