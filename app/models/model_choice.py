"""Model choice: the bundled one, a folder, or a hub model that the user named."""

import json
import os
import re
from pathlib import Path
from typing import Any

from app.settings import Settings
from memory_engine.errors import ModelNotFoundError

HUB_ID = re.compile(r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")
WEIGHTS = ("*.safetensors", "*.bin", "*.pt")


def choose_model(settings: Settings) -> str:
    """Find the folder of the language model, or its hub id. Blocks; may prepare the bundled one.

    Raises ModelNotFoundError when there is no such folder, or it holds no model.
    """
    if not settings.model:
        from app.models.bundled import llm_folder

        return str(llm_folder(settings.data_dir))
    return _choose("INFERSCALE_MODEL", settings.model)


def choose_embedding_model(settings: Settings) -> str:
    """Find the folder of the embedding model, or its hub id. Blocks. Raises ModelNotFoundError."""
    if not settings.embedding_model:
        from app.models.bundled import embedding_folder

        return str(embedding_folder())
    return _choose("INFERSCALE_EMBEDDING_MODEL", settings.embedding_model)


def names_hub_model(name: str) -> bool:
    """True if this setting means a hub model and no folder."""
    return bool(HUB_ID.match(name)) and not Path(name).expanduser().exists()


def stay_offline(settings: Settings) -> None:
    """Contact nobody unless the user named a hub model. Call before libraries are imported."""
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if not any(map(names_hub_model, (settings.model, settings.embedding_model))):
        os.environ.setdefault("HF_HUB_OFFLINE", "1")


def read_config(folder: Path) -> dict[str, Any]:
    """Read the folder's config.json. Raises ModelNotFoundError when there is none to read."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelNotFoundError(f"{folder} holds no model: config.json is missing.") from None
    except (OSError, ValueError) as error:
        raise ModelNotFoundError(f"{folder / 'config.json'} cannot be read: {error}") from None
    if not isinstance(config, dict) or "model_type" not in config:
        raise ModelNotFoundError(f"{folder / 'config.json'} does not name a model_type.")
    return config


def config_of(model: str) -> dict[str, Any]:
    """Read the config.json of a model's folder or hub id. Blocks."""
    if Path(model).is_dir():
        return read_config(Path(model))
    from transformers import AutoConfig

    config: dict[str, Any] = AutoConfig.from_pretrained(model).to_dict()
    return config


def _choose(key: str, name: str) -> str:
    if names_hub_model(name):
        _require_on_hub(key, name)
        return name
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise ModelNotFoundError(
            f"{key}={name}: there is no such folder. Give a folder with a config.json, or a "
            "hub id such as owner/name, or unset it for the bundled model."
        )
    read_config(folder)
    if not any(next(folder.glob(pattern), None) for pattern in WEIGHTS):
        raise ModelNotFoundError(f"{key}={name}: the folder holds no weights (*.safetensors).")
    return str(folder)


def _require_on_hub(key: str, name: str) -> None:
    from huggingface_hub import hf_hub_download

    try:
        hf_hub_download(name, "config.json")
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelNotFoundError(
            f"{key}={name}: no such folder, and the hub does not give that model: {reason}"
        ) from None
