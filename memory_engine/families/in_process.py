"""vLLM inside this process: a small model starts in seconds, one after the other.

Three processes that each import vLLM cost most of an engine's start. A program that only
wants the gate's verdict on small models pays the import once.
"""

import asyncio
import gc
import json
import os
import re
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock
from warnings import catch_warnings, filterwarnings

from memory_engine.engines.embedded import EmbeddedEngine
from memory_engine.engines.vllm_arguments import engine_config
from memory_engine.families.random_weights import register_loader


class InProcessEngine(EmbeddedEngine):
    """An `EmbeddedEngine` whose vLLM runs in this process, with random weights.

    With `load_format="auto"` it has the model's own. One at a time; whoever awaits an output
    computes the steps until it is there.
    """

    async def start(self) -> None:
        # The connector looks for the model among the live objects: those of now are not it.
        gc.freeze()
        with _few_collections():
            await super().start()

    async def aclose(self) -> None:
        with _few_collections():
            await super().aclose()

    def _launch(self) -> Any:
        from vllm.v1.engine.llm_engine import LLMEngine

        _know_here(Path(self._model))
        with (
            _kernels_replaced_once(),
            mock.patch.dict(os.environ, VLLM_ENABLE_V1_MULTIPROCESSING="0"),
        ):
            options = {"load_format": register_loader()} | self._options
            config = engine_config(
                self._model,
                skip_tokenizer_init=True,
                distributed_executor_backend="uni",
                **options,
            )
            return _Requests(LLMEngine.from_vllm_config(config))


class _Requests:
    """An `LLMEngine` behind what `EmbeddedEngine` uses of `AsyncLLM`."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._arrived: dict[str, deque[Any]] = {}
        self.vllm_config = engine.vllm_config

    async def generate(
        self, inputs: dict[str, Any], sampling: Any, request_id: str
    ) -> AsyncGenerator[Any, None]:
        arrived = self._arrived[request_id] = deque[Any]()
        internal_id = self._engine.add_request(request_id, inputs, sampling)
        try:
            while arrived or self._engine.has_unfinished_requests():
                # Others may come first, and share the step.
                await asyncio.sleep(0)
                if not arrived:
                    self._step()
                while arrived:
                    output = arrived.popleft()
                    yield output
                    if output.finished:
                        return
        finally:
            del self._arrived[request_id]
            self._engine.abort_request([internal_id], internal=True)

    def _step(self) -> None:
        for output in self._engine.step():
            if output.request_id in self._arrived:
                self._arrived[output.request_id].append(output)

    def shutdown(self) -> None:
        engine, self._engine = self._engine, None
        engine.engine_core.shutdown()
        clean_up()


def clean_up() -> None:
    """Leave nothing of a model, started or not, that the next one would find."""
    from vllm.distributed.parallel_state import cleanup_dist_env_and_memory
    from vllm.model_executor.layers.rotary_embedding import _ROPE_DICT

    # Its keys lack the maximum length, by which LongRoPE chooses its half.
    _ROPE_DICT.clear()
    # An engine that failed shuts down when it is collected, and the next one's groups with it.
    gc.collect()
    cleanup_dist_env_and_memory()


def _know_here(model: Path) -> None:
    """Let vLLM inspect the model's class here, not in a process that imports vLLM again."""
    from vllm import ModelRegistry

    for name in json.loads((model / "config.json").read_text())["architectures"]:
        known = ModelRegistry.models.get(name)
        if known is not None:
            ModelRegistry.register_model(name, known.load_model_cls())


@contextmanager
def _kernels_replaced_once() -> Iterator[None]:
    # vLLM replaces its Triton kernels at every start, wherever a module has one, which takes
    # most of a second. A module that is imported later gets the replacement.
    from vllm.triton_utils import dispatcher

    if dispatcher._registry:
        with mock.patch.object(dispatcher, "register_kernels"):
            yield
    else:
        with _tolerant_scan():
            yield


@contextmanager
def _tolerant_scan() -> Iterator[None]:
    # vLLM looks for kernels in the attributes of all modules, and takes for granted that
    # `vars` gives a dictionary: not of llvmlite's functions, which numba brings along.
    from vllm.triton_utils import dispatcher

    def attributes(value: object) -> dict[str, Any]:
        found = vars(value)
        return dict(found) if isinstance(found, Mapping) else {}

    with mock.patch.object(dispatcher, "vars", attributes, create=True), catch_warnings():
        # Of what torch deprecates, which is among all those attributes.
        filterwarnings("ignore", category=FutureWarning, module=re.escape(__name__))
        yield


@contextmanager
def _few_collections() -> Iterator[None]:
    # vLLM collects garbage nine times a start, half a second each.
    with mock.patch.object(gc, "collect", return_value=0):
        yield
    gc.collect(1)
