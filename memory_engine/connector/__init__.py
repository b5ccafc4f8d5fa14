"""The part of InferScale that runs inside vLLM's processes: its KV connector.

vLLM loads it by `kv_connector="InferScaleConnector"` and
`kv_connector_module_path="memory_engine.connector"`. Imports torch and vllm only, and those
not before the connector is asked for: a client of remote engines needs neither.
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
