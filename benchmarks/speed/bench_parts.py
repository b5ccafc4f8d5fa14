"""Parts of the benchmark on a started engine, one after the other."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from app.composition import Progress
from app.hardware import hardware, versions
from benchmarks.speed.chat_beside_import import Recall, measure_chat
from benchmarks.speed.encoding_rate import measure_encoding
from benchmarks.speed.latency import WARM_UPS, measure_fact_length, measure_row
from benchmarks.speed.prompt_material import OWNER, PromptMaterial
from benchmarks.speed.throughput import measure_load
from benchmarks.speed.workload import Workload
from memory_engine.engines.base import Engine
from memory_engine.errors import EngineError, SettingsError, UnsupportedModelError


async def measure(
    engine: Engine,
    workload: Workload,
    token_ids: Sequence[int],
    progress: Progress,
    recall: Recall | None = None,
) -> dict[str, Any]:
    """Run the benchmark and return the report, ready for JSON.

    token_ids: at least `workload.tokens_needed` to make prompts of. recall: what a chat does
    between a message and the request for its reply; without it no chat is measured. What was
    not asked for is null. So is a part beyond the rows over k that fails; `errors` says why,
    and the other parts are not lost.
    """
    _require_fit(engine, workload)
    run = _Run(engine, workload, token_ids, progress)
    report = _about(engine, workload)
    try:
        report["encode"] = await run.encode()
        report["rows"] = [await run.row(k) for k in workload.ks]
        report["bytes_held"] = await run.bytes_held()
        await _add(report, "fact_lengths", workload.fact_lengths, run.fact_lengths)
        await _add(report, "throughput", workload.concurrency, run.throughput)
        await _add(report, "encoding", workload.encode_facts, run.encoding)
        report["chat"] = None
        if workload.encode_facts and recall is not None:
            await _add(report, "chat", True, partial(run.chat, recall))
    finally:
        # An engine that is gone holds nothing; why it went is what the caller should hear.
        with suppress(EngineError):
            await engine.drop(OWNER)
    return report


@dataclass(frozen=True, slots=True)
class _Run:
    """The parts of one benchmark."""

    engine: Engine
    workload: Workload
    token_ids: Sequence[int]
    progress: Progress

    @property
    def material(self) -> PromptMaterial:
        """Prompt material of the rows over k and of the load."""
        return PromptMaterial.cut_from(
            self.token_ids, self.workload.facts, self.workload.fact_tokens
        )

    async def encode(self) -> dict[str, float]:
        """Make all facts resident."""
        material = self.material
        self.progress(f"Encoding {len(material.facts)} facts ...")
        started = perf_counter()
        for job in material.runs():
            await self.engine.encode(job)
        total = (perf_counter() - started) * 1000
        arena = await self.engine.arena()
        return {
            "total_ms": round(total, 1),
            "ms_per_fact": round(total / max(len(material.facts), 1), 2),
            "arena_bytes": arena.tokens_used * self._bytes_a_token,
        }

    async def row(self, k: int) -> dict[str, Any]:
        """Measure time to first token with `k` facts."""
        return await measure_row(self.engine, self.workload, self.material, k, self.progress)

    async def bytes_held(self) -> dict[str, int]:
        """Bytes of KV on all devices and in host memory, with all facts on both."""
        await self.engine.prefetch(OWNER)
        arena = await self.engine.arena()
        return {
            "facts": self.workload.facts,
            "a_token": self._bytes_a_token,
            "a_fact": self._bytes_a_token * self.workload.fact_tokens,
            "device": self._bytes_a_token * arena.tokens_used,
            "host": self._bytes_a_token * arena.host_tokens_used,
        }

    async def fact_lengths(self) -> list[dict[str, Any]]:
        """Measure a row for every fact length."""
        rows = []
        for length in self.workload.fact_lengths:
            owner = f"{OWNER}-{length}"
            material = PromptMaterial.cut_from(self.token_ids, self.workload.load_k, length, owner)
            rows.append(
                await measure_fact_length(self.engine, self.workload, material, self.progress)
            )
        return rows

    async def throughput(self) -> list[dict[str, Any]]:
        """Measure requests a second under load."""
        return await measure_load(self.engine, self.workload, self.material, self.progress)

    async def encoding(self) -> dict[str, Any]:
        """Measure facts encoded a second."""
        return await measure_encoding(self.engine, self.workload, self._to_encode, self.progress)

    async def chat(self, recall: Recall) -> dict[str, Any]:
        """Measure a chat alone and beside an import."""
        self.progress("A chat while facts are encoded")
        prompt = self.material.prompt(range(self.workload.load_k))
        return await measure_chat(self.engine, self.workload, self._to_encode, prompt, recall)

    @property
    def _to_encode(self) -> PromptMaterial:
        return PromptMaterial.cut_from(
            self.token_ids, self.workload.encode_facts, self.workload.fact_tokens
        )

    @property
    def _bytes_a_token(self) -> int:
        # The engine counts one rank's.
        return self.engine.info.kv_bytes_per_token * self.workload.tensor_parallel


async def _add(
    report: dict[str, Any], name: str, wanted: object, part: Callable[[], Awaitable[Any]]
) -> None:
    """Measure a part, if wanted, and how many seconds that took."""
    report[name] = None
    if not wanted:
        return
    started = perf_counter()
    try:
        report[name] = await part()
    except EngineError as error:
        report["errors"][name] = str(error)
    report["seconds"][name] = round(perf_counter() - started, 1)


def _require_fit(engine: Engine, workload: Workload) -> None:
    if not engine.conformance.supported:
        raise UnsupportedModelError(f"KV injection is refused: {engine.conformance.reason}")
    k, length = workload.longest
    needed, limit = workload.longest_prompt + workload.longest_reply, engine.info.max_model_len
    if needed > limit:
        raise SettingsError(
            f"k={k} with {length} tokens a fact needs {needed} tokens; the engine takes {limit}."
        )


def _about(engine: Engine, workload: Workload) -> dict[str, Any]:
    return {
        "model": engine.info.model,
        "device": engine.info.device,
        "conformance": engine.conformance.checks,
        "hardware": hardware().as_json(),
        "versions": versions() | engine.info.versions,
        "tensor_parallel": workload.tensor_parallel,
        "fact_tokens": workload.fact_tokens,
        "n": workload.repeats,
        "warm_ups_dropped": WARM_UPS,
        "errors": {},
        "seconds": {},
    }
