"""The connector with a clock: when each of its hooks was called for a request, and the GPU's time.

For `scripts.first_token`, which asks for one request at a time.
"""

from time import perf_counter
from typing import TYPE_CHECKING, Any

from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorMetadata
from vllm.platforms import current_platform

from memory_engine.connector.connector import InferScaleConnector
from memory_engine.connector.gpu.device_timer import timing_event
from memory_engine.connector.metadata import StepOrders
from memory_engine.connector.worker import WorkerSide
from scripts.stages import KEY, LATE

if TYPE_CHECKING:
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.request import Request

# Of the request that runs, by name: this process's clock in seconds, the system's monotonic
# one, and what the GPU has passed. The first of a name counts: a step without tokens follows.
_marks: dict[str, float] = {}
_passed: dict[str, Any] = {}


class TimedWorker(WorkerSide):
    """WorkerSide whose loads the GPU passes between two events."""

    def load(self, plan: StepOrders) -> None:
        _pass("injecting")
        super().load(plan)
        _pass("injected")


class TimedConnector(InferScaleConnector):
    """InferScaleConnector whose requests tell when their hooks were called, under `KEY`.

    With `late` in its configuration it injects only when vLLM asks for it.
    """

    worker_type = TimedWorker

    def _worker_here(self) -> WorkerSide | None:
        late = self._kv_transfer_config.get_from_extra_config(LATE, False)
        return None if late else super()._worker_here()

    def on_new_request(self, request: "Request") -> None:
        _marks.clear()
        _passed.clear()
        _mark("arrived")
        super().on_new_request(request)
        _mark("parsed")

    def get_num_new_matched_tokens(
        self, request: "Request", num_computed_tokens: int
    ) -> tuple[int | None, bool]:
        _mark("looked for")
        found = super().get_num_new_matched_tokens(request, num_computed_tokens)
        _mark("looked up")
        return found

    def build_connector_meta(self, scheduler_output: "SchedulerOutput") -> KVConnectorMetadata:
        _mark("scheduled")
        orders = super().build_connector_meta(scheduler_output)
        _mark("planned")
        return orders

    def handle_preemptions(self, kv_connector_metadata: KVConnectorMetadata) -> None:
        _mark("inputs ready")

    def wait_for_save(self) -> None:
        _mark("all queued")
        _pass("computed")
        super().wait_for_save()

    def request_finished(
        self, request: "Request", block_ids: list[int]
    ) -> tuple[bool, dict[str, Any] | None]:
        _mark("token")
        kept, outcome = super().request_finished(request, block_ids)
        return kept, (outcome or {}) | {KEY: {"marks": dict(_marks), "gpu_ms": _gpu_times()}}


def _mark(name: str) -> None:
    _marks.setdefault(name, perf_counter())


def _pass(name: str) -> None:
    if name not in _passed and current_platform.is_cuda():
        _passed[name] = timing_event()
        _passed[name].record()


def _gpu_times() -> dict[str, float]:
    """Milliseconds of the GPU: the injection, and from there to the end of the step."""
    if "computed" not in _passed or "injected" not in _passed:
        return {}
    begun, injected, computed = (_passed[n] for n in ("injecting", "injected", "computed"))
    computed.synchronize()
    return {"inject": begun.elapsed_time(injected), "then": injected.elapsed_time(computed)}
