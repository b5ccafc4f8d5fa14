"""A name for a model's KV: it changes whenever the same tokens would get other keys or values."""

import hashlib
from pathlib import Path
from typing import Any

ENCODER_VERSION = "1"
"""Raise it when the connector stores KV differently."""


def model_fingerprint(model: str, vllm_config: Any) -> str:
    """Hash of the model's configuration, weight files, dtype and engine version, 16 hex digits.

    Weight files count by name and size; a hub model counts by its id and revision.
    """
    import vllm

    model_config = vllm_config.model_config
    parts = [ENCODER_VERSION, vllm.__version__, str(model_config.dtype)]
    parts.append(str(model_config.max_model_len))
    folder = Path(model)
    if folder.is_dir():
        parts.append((folder / "config.json").read_text())
        weights = sorted(folder.glob("*.safetensors")) + sorted(folder.glob("*.bin"))
        parts += [f"{file.name}:{file.stat().st_size}" for file in weights]
    else:
        parts += [model, str(model_config.revision)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
