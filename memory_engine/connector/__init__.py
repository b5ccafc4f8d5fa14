"""The KV connector: the part of InferScale that runs inside vLLM's processes.

In: a request's parameters, `kv_transfer_params["inferscale"]`. Out: injected and encoded KV,
and the request's outcome. In reading order:

    connector.py           vLLM's view: a thin adapter to the side of its role
    scheduler.py           the scheduler side: plans injections and encodes
    control_requests.py    operations that act when they arrive, by a table
    tracked_request.py     the state of one live request
    metadata.py            orders for a step, and the worker's report on it
    worker.py              the worker side: executes the orders
    engine_description.py  the engine's description for its callers
    statistics.py          counters and gauges in vLLM's log and /metrics
    orphans.py             ends the engine with the process that started it
    protocol/              requests and outcomes, written and read
    segments/              arena, tiers and snapshots
    gpu/                   RoPE, pages, copies and the probe

vLLM loads it by `kv_connector="InferScaleConnector"` and
`kv_connector_module_path="memory_engine.connector"`. torch and vllm are imported not
before the connector is asked for: a client of remote engines needs neither.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_engine.connector.connector import InferScaleConnector

__all__ = ["InferScaleConnector"]


def __getattr__(name: str) -> Any:
    if name != "InferScaleConnector":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memory_engine.connector.connector import InferScaleConnector

    return InferScaleConnector
