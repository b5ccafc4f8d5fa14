"""The part of InferScale that runs inside vLLM's processes: its KV connector.

vLLM loads it by `kv_connector="InferScaleConnector"` and
`kv_connector_module_path="memory_engine.connector"`. Imports torch and vllm only.
"""

from memory_engine.connector.connector import InferScaleConnector

__all__ = ["InferScaleConnector"]
