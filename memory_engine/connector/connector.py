"""InferScaleConnector: vLLM's view of the KV memory, a thin adapter to the side of its role."""

import atexit
import gc
import os
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from vllm.distributed.kv_transfer import get_kv_transfer_group, has_kv_transfer_group
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorMetadata,
    KVConnectorRole,
    KVConnectorWorkerMetadata,
)
from vllm.distributed.kv_transfer.kv_connector.v1.metrics import (
    KVConnectorPromMetrics,
    KVConnectorStats,
)

from memory_engine.connector.engine_description import describe_engine
from memory_engine.connector.gpu.live_model import kv_bytes_per_token, require_supported
from memory_engine.connector.gpu.unsupported import UnsupportedError
from memory_engine.connector.metadata import StepOrders, WorkerReport
from memory_engine.connector.orphans import end_with_parent
from memory_engine.connector.protocol.params import KEY
from memory_engine.connector.protocol.signature import KEY_VARIABLE
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.archive import ArchiveSettings
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers
from memory_engine.connector.statistics import PrometheusStatistics, Statistics
from memory_engine.connector.worker import TierSizes, WorkerSide

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.forward_context import ForwardContext
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.outputs import KVConnectorOutput
    from vllm.v1.request import Request


class InferScaleConnector(KVConnectorBase_V1):
    """Injects stored KV of facts into requests and keeps KV of encode requests.

    Configured through `kv_connector_extra_config`, sizes being those of a rank:

        arena_bytes       the arena on the device
        host_bytes        host memory behind it, 0 for none
        store_dtype       `auto` for the cache's type, or `fp8`
        signing_key       key of the requests' signatures (see `signature`), none if empty;
                          left out, the environment's INFERSCALE_SIGNING_KEY
        snapshot_folder   folder of owners' snapshots, "" for none
        snapshot_bytes    bytes that folder may hold
        end_with_parent   whether the engine stops with the process that started it

    Requests speak to it through `kv_transfer_params` (see `params`).
    """

    worker_type: ClassVar[type[WorkerSide]] = WorkerSide

    def __init__(
        self, vllm_config: "VllmConfig", role: KVConnectorRole, kv_cache_config: "KVCacheConfig"
    ) -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        # Or Python looks through the whole heap when the process ends, for seconds.
        atexit.register(gc.freeze)
        refusal, sizes = "", TierSizes(0)
        try:
            require_supported(vllm_config, kv_cache_config)
            sizes = self._sizes(kv_cache_config)
        except UnsupportedError as error:
            refusal = str(error)
        if role == KVConnectorRole.SCHEDULER:
            block_size = kv_cache_config.kv_cache_groups[0].kv_cache_spec.block_size
            if self._kv_transfer_config.get_from_extra_config("end_with_parent", False):
                end_with_parent()
            # A refused engine gets an arena that nothing enters.
            share = float(self._kv_transfer_config.get_from_extra_config("owner_share", 1.0))
            device, host = (_arena(slots, share) for slots in (max(sizes.device, 1), sizes.host))
            assert device is not None
            tiers = Tiers(device, host)
            self.scheduler = SchedulerSide(
                tiers,
                block_size,
                refusal,
                self._signing_key().encode(),
                self._archive_settings(),
                describe_engine(vllm_config),
            )
        else:
            parallel = vllm_config.parallel_config
            rank = (parallel.rank, parallel.tensor_parallel_size)
            self.worker = self.worker_type(sizes, refusal, rank)

    def _signing_key(self) -> str:
        # An engine that others talk to gets it where a list of processes does not show it.
        key = self._kv_transfer_config.get_from_extra_config("signing_key", None)
        return os.environ.get(KEY_VARIABLE, "") if key is None else str(key)

    def _archive_settings(self) -> ArchiveSettings:
        option = self._kv_transfer_config.get_from_extra_config
        return ArchiveSettings(
            str(option("snapshot_folder", "")),
            int(option("snapshot_bytes", 0)),
            self._vllm_config.parallel_config.tensor_parallel_size,
        )

    def _sizes(self, kv_cache_config: "KVCacheConfig") -> TierSizes:
        option = self._kv_transfer_config.get_from_extra_config
        store = str(option("store_dtype", "auto"))
        if store not in ("auto", "fp8"):
            raise UnsupportedError(f"store_dtype is {store!r}: use auto or fp8")
        a_token = kv_bytes_per_token(kv_cache_config, fp8=store == "fp8")
        budget = int(option("arena_bytes", 0))
        if budget < a_token:
            raise UnsupportedError(f"an arena of {budget} bytes does not hold one token")
        return TierSizes(budget // a_token, int(option("host_bytes", 0)) // a_token, store == "fp8")

    @property
    def requires_kv_delivery(self) -> bool:
        """A memory may lose KV; a preempted request need not be recomputed for its sake."""
        return False

    # Worker side

    def register_kv_caches(self, kv_caches: dict[str, torch.Tensor]) -> None:
        layers = self._vllm_config.compilation_config.static_forward_context
        self.worker.register(kv_caches, layers)

    def start_load_kv(self, forward_context: "ForwardContext", **kwargs: Any) -> None:
        self.worker.load(self._orders())

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Loads are complete, in stream order, when `start_load_kv` returns."""

    def save_kv_layer(self, layer_name: str, *args: Any, **kwargs: Any) -> None:
        """Full CUDA graphs skip this hook: `wait_for_save` saves all layers instead."""

    def wait_for_save(self) -> None:
        self.worker.save(self._orders())

    def build_connector_worker_meta(self) -> KVConnectorWorkerMetadata | None:
        return self.worker.report(self._orders())

    def get_kv_connector_stats(self) -> KVConnectorStats | None:
        if self.role == KVConnectorRole.SCHEDULER:
            return self.scheduler.statistics()
        return self.worker.statistics()

    @classmethod
    def build_kv_connector_stats(
        cls, data: dict[str, Any] | None = None
    ) -> KVConnectorStats | None:
        return Statistics(data or {})

    @classmethod
    def build_prom_metrics(
        cls,
        vllm_config: "VllmConfig",
        metric_types: dict[type, type],
        labelnames: list[str],
        per_engine_labelvalues: dict[int, list[object]],
    ) -> KVConnectorPromMetrics:
        return PrometheusStatistics(vllm_config, metric_types, labelnames, per_engine_labelvalues)

    def _orders(self) -> StepOrders:
        orders = self._get_connector_metadata()
        assert isinstance(orders, StepOrders)
        return orders

    # Scheduler side

    def on_new_request(self, request: "Request") -> None:
        raw = (request.kv_transfer_params or {}).get(KEY)
        plain = request.lora_request is None and not request.mm_features
        # Embeddings can stand in for some of the tokens: their ids say nothing then.
        plain = plain and request.prompt_token_ids is not None and request.prompt_embeds is None
        if raw is not None and plain:
            self.scheduler.arrived(request.request_id, raw, request.num_prompt_tokens)

    def get_num_new_matched_tokens(
        self, request: "Request", num_computed_tokens: int
    ) -> tuple[int | None, bool]:
        if request.skip_reading_prefix_cache:
            return 0, False
        found = self.scheduler.lookup(request.request_id, request.num_tokens, num_computed_tokens)
        return found, False

    def update_state_after_alloc(
        self, request: "Request", blocks: "KVCacheBlocks", num_external_tokens: int
    ) -> None:
        self.scheduler.admitted(request.request_id, num_external_tokens)

    def build_connector_meta(self, scheduler_output: "SchedulerOutput") -> KVConnectorMetadata:
        state = scheduler_output.kv_connector_block_state
        assert state is not None
        steps = {}
        cached = scheduler_output.scheduled_cached_reqs
        computed = dict(zip(cached.req_ids, cached.num_computed_tokens, strict=True))
        new = scheduler_output.scheduled_new_reqs
        computed |= {request.req_id: request.num_computed_tokens for request in new}
        for request_id, scheduled in scheduler_output.num_scheduled_tokens.items():
            if self.scheduler.needs_step(request_id):
                blocks = state.resolve_block_ids(request_id)[0]
                steps[request_id] = (computed[request_id], scheduled, blocks)
        orders = self.scheduler.step_orders(steps)
        if (worker := self._worker_here()) is not None:
            worker.load_early(orders)
        return orders

    def _worker_here(self) -> WorkerSide | None:
        """The worker's side, where vLLM runs the only rank in the scheduler's own thread."""
        theirs = get_kv_transfer_group() if has_kv_transfer_group() else None
        if not isinstance(theirs, InferScaleConnector):
            return None
        # Another engine of this process has another configuration.
        return theirs.worker if theirs._vllm_config is self._vllm_config else None

    def update_connector_output(self, connector_output: "KVConnectorOutput") -> None:
        report = connector_output.kv_connector_worker_meta
        if isinstance(report, WorkerReport):
            self.scheduler.report(report)

    def request_finished(
        self, request: "Request", block_ids: list[int]
    ) -> tuple[bool, dict[str, Any] | None]:
        return False, self.scheduler.finished(request.request_id)


def _arena(slots: int, owner_share: float) -> Arena | None:
    limit = max(1, int(slots * owner_share)) if owner_share < 1 else None
    return Arena(slots, limit) if slots else None
