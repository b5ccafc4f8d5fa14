"""Description of a running engine, for callers that may ask for its counts."""

import uuid
from typing import Any

from vllm.platforms import current_platform

from memory_engine.connector.gpu.fingerprint import model_fingerprint


def describe_engine(vllm_config: Any) -> dict[str, Any]:
    """Describe the running engine: its model, its limits, and `start`, which no other start shares.

    `start` tells a caller that what it believes to be resident is gone. `arena_bytes` are
    those of a rank. The values are plain, for vLLM refuses to send others to its server.
    """
    import torch
    import vllm

    model = vllm_config.model_config
    option = vllm_config.kv_transfer_config.get_from_extra_config
    name = model.served_model_name
    return {
        "start": uuid.uuid4().hex,
        "model": name if isinstance(name, str) else name[0],
        "fingerprint": model_fingerprint(str(model.model), vllm_config),
        "max_model_len": int(model.max_model_len),
        "vocab_size": int(model.get_vocab_size()),
        "dtype": str(model.dtype),
        "device": "cpu" if current_platform.is_cpu() else str(current_platform.get_device_name()),
        "versions": {"vllm": vllm.__version__, "torch": str(torch.__version__)},
        "arena_bytes": int(option("arena_bytes", 0)),
        "store_dtype": str(option("store_dtype", "auto")),
        "keeps_snapshots": bool(option("snapshot_folder", "")),
    }
