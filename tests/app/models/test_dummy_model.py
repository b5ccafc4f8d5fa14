"""Dummy models: their KV is as large as that of the real ones."""

from app.models.dummy_model import LLAMA_8B, LLAMA_70B, kv_bytes_per_token


def test_the_dummy_models_take_as_much_kv_a_token_as_the_real_ones() -> None:
    assert kv_bytes_per_token(LLAMA_8B, 2) == 128 * 1024
    assert kv_bytes_per_token(LLAMA_70B, 2) == 320 * 1024
