"""Engine choice by the settings. Imports vLLM only when an engine is built."""

import gc
from pathlib import Path
from typing import Any

from app.hardware import hardware
from app.settings import Settings
from memory_engine.engines.base import Engine
from memory_engine.errors import EngineError, InferScaleError, SettingsError

MIB = 1 << 20
CPU_KV_CACHE_MIB = 1024
DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


def engine_dtype(settings: Settings) -> str:
    """Choose the number type to serve in; on a CPU float32, which is exact and no slower there."""
    return "float32" if settings.dtype == "auto" and not hardware().gpu else settings.dtype


def cache_dtype(settings: Settings, config: dict[str, Any]) -> str:
    """Choose the number type of vLLM's KV cache, for a model with this config.json."""
    dtype = engine_dtype(settings)
    of_model = str(config.get("torch_dtype") or config.get("dtype"))
    known = [name for name in (dtype, of_model) if name in DTYPE_BYTES]
    return known[0] if known else "float32"


def engine_arguments(settings: Settings) -> dict[str, Any]:
    """Derive the arguments of the embedded engine from the settings."""
    cache_mib = settings.kv_cache_mib or (0 if hardware().gpu else CPU_KV_CACHE_MIB)
    return {
        "arena_bytes": settings.arena_mib * MIB,
        "host_bytes": settings.host_mib * MIB,
        "owner_share": settings.user_share / 100,
        "store_dtype": settings.store_dtype,
        "snapshot_folder": snapshot_folder(settings) if settings.snapshot_mib else None,
        "snapshot_bytes": settings.snapshot_mib * MIB,
        "kv_cache_bytes": cache_mib * MIB or None,
        "dtype": engine_dtype(settings),
        "max_model_len": settings.max_model_len,
    }


def serve_options(settings: Settings) -> dict[str, Any]:
    """Derive the options of an engine of its own, those of `launch.engine_options`.

    It keeps no snapshots: it outlives the programs that use it, and a file that one of them
    cannot reach would outlive what is forgotten.
    """
    given = engine_arguments(settings)
    connector = ("arena_bytes", "host_bytes", "owner_share", "store_dtype")
    others = ("kv_cache_bytes", "dtype", "max_model_len")
    return {"connector": {name: given[name] for name in connector}} | {
        name: given[name] for name in others
    }


def signing_key(settings: Settings) -> str:
    """Return the secret of remote engines. Raises SettingsError when there is none."""
    key = settings.signing_key.get_secret_value()
    if not key:
        raise SettingsError(
            "INFERSCALE_SIGNING_KEY is not set. Engines and the programs that use them need the "
            "same secret, for example what `openssl rand -hex 32` prints."
        )
    return key


def remote_engines(settings: Settings) -> Engine:
    """Make one engine of those in INFERSCALE_ENGINES, not started. Raises SettingsError."""
    from memory_engine.engines.fleet import Fleet
    from memory_engine.engines.remote import RemoteEngine

    key = signing_key(settings)
    urls = [url.strip() for url in settings.engines.split(",") if url.strip()]
    if len(urls) > 1 and not settings.router:
        raise SettingsError(
            "INFERSCALE_ENGINES has several engines and INFERSCALE_ROUTER none in front of them. "
            "Start one: vllm-router --policy consistent_hash --worker-urls " + " ".join(urls)
        )
    router = RemoteEngine(settings.router or urls[0], key)
    return Fleet([RemoteEngine(url, key) for url in urls], router)


def snapshot_folder(settings: Settings) -> Path:
    """Folder in which the KV of facts outlives the engine."""
    return settings.data_dir / "kv"


def build_engine(model: str, arguments: dict[str, Any]) -> Engine:
    """Build an embedded vLLM engine, not started. Takes seconds: call in a thread."""
    from memory_engine.engines.embedded import EmbeddedEngine

    return EmbeddedEngine(model, **arguments)


def keep_loaded() -> None:
    """Exempt what is loaded by now from garbage collection; half a second, once.

    Collections would look through it again and again, and nobody is served meanwhile:
    DECISIONS.md.
    """
    gc.collect()
    gc.freeze()


async def start_engine(engine: Engine) -> None:
    """Start an engine; errors of vLLM become EngineError, and its log on stderr says more."""
    try:
        await engine.start()
    except InferScaleError:
        raise
    except Exception as error:
        raise EngineError(
            f"The engine did not start: {error}\nSet INFERSCALE_LOG=info to see all it says."
        ) from error
