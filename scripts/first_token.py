"""Profile of the time to the first token, one request at a time, from hook to hook.

python -m scripts.first_token [--dummy-model llama-8b] [--k 100,200] [--n 20] [--late]
"""

import argparse
import json
import sys
import tempfile
import uuid
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from app.hardware import hardware, versions
from app.models.dummy_model import SHAPES
from app.models.engine_choice import start_engine
from app.models.model_choice import stay_offline
from app.settings import Settings
from benchmarks.speed.bench_session import DUMMY, measured_model, sized_arguments
from benchmarks.speed.prompt_material import PromptMaterial
from benchmarks.speed.workload import Workload
from memory_engine.connector.protocol.outcome import Outcome
from memory_engine.connector.protocol.params import KEY as PARAMS
from memory_engine.connector.protocol.params import inject_params
from memory_engine.engines.cache_salt import prompt_salt
from memory_engine.engines.embedded import EmbeddedEngine
from memory_engine.engines.vllm_arguments import launch
from memory_engine.errors import EngineError, InferScaleError
from memory_engine.types import Mode, Prompt, Sampling
from scripts.stages import AGAIN, KEY, LATE, NO_FACTS, STAGES, as_table

WARM_UPS = 2
Arms = dict[str, dict[str, float]]


class TimedEngine(EmbeddedEngine):
    """An embedded engine with `TimedConnector` for its connector."""

    def __init__(self, model: str, *, late: bool, **arguments: Any) -> None:
        super().__init__(model, **arguments)
        self._late = late

    def _launch(self) -> Any:
        extra = {"end_with_parent": True, LATE: self._late} | self._options["connector"]
        return launch(self._model, **self._options, kv_transfer_config=timed_connector(extra))


def timed_connector(extra: dict[str, Any]) -> dict[str, Any]:
    """Make vLLM's `kv_transfer_config` for `TimedConnector`; extra: as for InferScaleConnector."""
    return {
        "kv_connector": "TimedConnector",
        "kv_connector_module_path": "scripts.timed_connector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": extra,
    }


async def timed(engine: EmbeddedEngine, prompt: Prompt, mode: Mode, salt: str) -> dict[str, float]:
    """Time one request: milliseconds of each of `STAGES`, of all, and of the GPU."""
    params = inject_params(prompt.owner, prompt.spans) if mode is Mode.KV else None
    sampling = Sampling(max_tokens=1, ignore_eos=True)
    salt = prompt_salt(prompt.owner, params, salt)
    told: dict[str, dict[str, float]] = {}
    outcome: Outcome = {}
    asked, seen = perf_counter(), 0.0
    async for output in engine.outputs(prompt.token_ids, salt, params, sampling):
        seen = seen or perf_counter()
        told = (output.kv_transfer_params or {}).get(KEY, told)
        outcome = (output.kv_transfer_params or {}).get(PARAMS, outcome)
    if params and outcome.get("injected") != sum(span.length for span in prompt.spans):
        raise EngineError(f"A KV request was not injected to its last fact: {outcome}.")
    # What a worker in another process did is part of the stage that follows.
    marks = {name: told["marks"][name] for name in STAGES if name in told["marks"]}
    times = pairwise([asked, *marks.values(), seen])
    spans = {
        name: (after - before) * 1000
        for name, (before, after) in zip([*marks, "seen"], times, strict=True)
    }
    gpu = {f"gpu {name}": ms for name, ms in told["gpu_ms"].items()}
    return spans | {"all": (seen - asked) * 1000} | gpu


async def measure(
    engine: EmbeddedEngine, material: PromptMaterial, ks: Sequence[int], n: int
) -> Arms:
    """Measure medians of `n` requests of each arm, which take turns: arm -> stage -> ms."""
    for run in material.runs():
        await engine.encode(run)
    arms = {f"text, {NO_FACTS}": (material.prompt([]), Mode.TEXT, False)}
    for k in ks:
        prompt = material.prompt(range(k))
        arms[f"text, {k} facts"] = (prompt, Mode.TEXT, False)
        arms[f"text, {k} facts, {AGAIN}"] = (prompt, Mode.TEXT, True)
        arms[f"KV, {k} facts"] = (prompt, Mode.KV, False)
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in arms}
    for turn in range(n + WARM_UPS):
        _progress(f"turn {turn + 1} of {n + WARM_UPS}")
        for name, (prompt, mode, again) in arms.items():
            salt = "again" if again else uuid.uuid4().hex
            found = await timed(engine, prompt, mode, salt)
            if turn >= WARM_UPS:
                taken[name].append(found)
    return {
        name: {stage: round(median(each[stage] for each in found), 3) for stage in found[0]}
        for name, found in taken.items()
    }


async def run(given: argparse.Namespace) -> dict[str, Any]:
    """Start an engine, measure, stop it."""
    settings = Settings()
    stay_offline(settings)
    dummy = given.dummy_model
    workload = Workload(ks=given.k, fact_tokens=given.fact_tokens)
    with tempfile.TemporaryDirectory() as folder:
        model, config, token_ids = await measured_model(settings, workload, dummy, Path(folder))
        arguments = sized_arguments(settings, workload, config) | (DUMMY if dummy else {})
        engine = TimedEngine(model, late=given.late, **arguments)
        try:
            _progress(f"Loading {dummy or model} ...")
            await start_engine(engine)
            material = PromptMaterial.cut_from(token_ids, workload.facts, workload.fact_tokens)
            arms = await measure(engine, material, workload.ks, given.n)
        finally:
            await engine.aclose()
    about = {"model": dummy or Path(model).name, "late": given.late, "n": given.n}
    return about | {"hardware": hardware().as_json(), "versions": versions(), "arms": arms}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_positive(part) for part in text.split(","))


def _positive(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return int(text)


def _progress(said: str) -> None:
    print(said, file=sys.stderr, flush=True)


def main() -> None:
    """Print a table and one line of JSON."""
    import uvloop

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dummy-model", choices=sorted(SHAPES), default="")
    parser.add_argument("--k", type=_numbers, default=(100, 200))
    parser.add_argument("--fact-tokens", type=int, default=40)
    parser.add_argument("--n", type=_positive, default=20)
    parser.add_argument("--late", action="store_true", help="inject only when vLLM asks for it")
    try:
        found = uvloop.run(run(parser.parse_args()))
    except InferScaleError as error:
        sys.exit(str(error))
    print(as_table(found["arms"]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
