"""The engine and the material of a benchmark: the configured model, or a dummy shape."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.bench import Bench, Material, measure
from app.dummy_model import kv_bytes_per_token, write_shape
from app.engine import BYTES, MIB, build_engine, engine_arguments, engine_dtype, start_engine
from app.hardware import hardware
from app.model_choice import choose_model, read_config, stay_offline
from app.settings import Settings
from memory_engine.errors import SettingsError

SEED = 20
ROOM = 64  # tokens beyond the longest prompt: the answer and the engine's own rounding
PROMPTS_HELD = 4  # how many longest prompts vLLM's cache can hold at once
SENTENCES = (
    "my sister moved near the old harbour last spring and works there as a baker now the dog "
    "likes long walks by the river every Sunday morning we cook soup with beans on cold days "
    "his brother plays the cello in a small hall in town they want to sail north in June her "
    "garden is full of roses and tall yellow flowers I keep the blue bike in the shed at home"
)


async def run_bench(
    settings: Settings, bench: Bench, dummy: str, folder: Path, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Start an engine, measure, stop it. `folder` is a scratch folder for a dummy model."""
    stay_offline(settings)
    if dummy:
        config = await asyncio.to_thread(_require_gpu_and_write, dummy, folder)
        model, extra = str(folder), {"load_format": "dummy", "skip_tokenizer_init": True}
        token_ids = random_tokens(config["vocab_size"], bench.longest_prompt)
    else:
        model = await asyncio.to_thread(choose_model, settings)
        config, extra = await asyncio.to_thread(_config_of, model), {}
        token_ids = await asyncio.to_thread(word_tokens, model, bench.longest_prompt)
    arguments = sized_arguments(settings, bench, config) | extra
    progress(f"Loading {dummy or model} ...")
    engine = await asyncio.to_thread(build_engine, model, arguments)
    try:
        await start_engine(engine)
        report = await measure(engine, bench, Material.cut_from(token_ids, bench), progress)
    finally:
        await engine.aclose()
    return report | {"model": dummy or Path(model).name, "dtype": arguments["dtype"]}


def sized_arguments(settings: Settings, bench: Bench, config: dict[str, Any]) -> dict[str, Any]:
    """Engine arguments with room for all facts in the arena and the longest prompt."""
    arguments = engine_arguments(settings)
    needed = bench.longest_prompt + ROOM
    limit = int(config.get("max_position_embeddings", needed))
    if needed > limit:
        raise SettingsError(
            f"k={max(bench.ks)} with {bench.fact_tokens} tokens a fact needs {needed} tokens; "
            f"the model takes {limit}. Give a smaller --k or --fact-tokens."
        )
    dtype = engine_dtype(settings)
    number = BYTES.get(dtype) or BYTES.get(str(config.get("torch_dtype") or config.get("dtype")), 4)
    one_prompt = needed * kv_bytes_per_token(config, number)
    arguments["max_model_len"] = min(limit, max(settings.max_model_len, needed))
    arguments["arena_bytes"] = max(arguments["arena_bytes"], one_prompt + 64 * MIB)
    if arguments["kv_cache_bytes"] is not None:
        held = PROMPTS_HELD * one_prompt
        arguments["kv_cache_bytes"] = max(arguments["kv_cache_bytes"], held)
    return arguments


def random_tokens(vocabulary: int, count: int) -> list[int]:
    """Token ids of a model that has no tokenizer. The same ones every time."""
    generator = random.Random(SEED)
    return [generator.randrange(1000, vocabulary - 1000) for _ in range(count)]


def word_tokens(model: str, count: int) -> list[int]:
    """The first `count` token ids of plain English. The same ones every time. Blocks."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    generator = random.Random(SEED)
    words = SENTENCES.split()
    text = " ".join(generator.choice(words) for _ in range(count))
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
    return ids[:count]


def _require_gpu_and_write(name: str, folder: Path) -> dict[str, Any]:
    config = write_shape(name, folder)
    if not hardware().gpu:
        raise SettingsError(
            f"--dummy-model {name} needs an NVIDIA GPU, and this machine has none. Run "
            "`inferscale bench` without it to measure the configured model."
        )
    return config


def _config_of(model: str) -> dict[str, Any]:
    if Path(model).is_dir():
        return read_config(Path(model))
    from transformers import AutoConfig

    config: dict[str, Any] = AutoConfig.from_pretrained(model).to_dict()
    return config
