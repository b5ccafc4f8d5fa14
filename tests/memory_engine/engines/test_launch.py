"""What vLLM is told when it is started."""

from pathlib import Path

from transformers import LlamaConfig

from memory_engine.engines.launch import _engine_args


def test_a_schema_is_enforced_without_room_for_blanks(tmp_path: Path) -> None:
    LlamaConfig().save_pretrained(tmp_path)
    args = _engine_args(
        str(tmp_path),
        connector={"arena_bytes": 2**20},
        kv_cache_bytes=2**20,
        max_model_len=256,
        dtype="float32",
    )
    assert args.structured_outputs_config.backend == "xgrammar"
    assert args.structured_outputs_config.disable_any_whitespace is True
