"""The probe tells a model whose RoPE is understood from one whose RoPE is not."""

import torch

from memory_engine.connector.gpu.probe import judge
from memory_engine.connector.gpu.rope import Rope

TOKENS, LAYERS, HEADS, DIM = 11, 3, 2, 16


def rope(neox: bool = True, dims: int = DIM, base: float = 10000.0) -> Rope:
    frequencies = 1.0 / base ** (torch.arange(0, dims, 2).float() / dims)
    angles = torch.arange(64).float()[:, None] * frequencies
    return Rope(torch.cat([angles.cos(), angles.sin()], dim=-1), neox)


def cached(model: Rope | None) -> torch.Tensor:
    """KV that a model with this RoPE caches for one repeated token."""
    kv = torch.randn(1, LAYERS, 2, HEADS, DIM).repeat(TOKENS, 1, 1, 1, 1)
    if model is not None:
        model.rotate(kv[:, :, 0], torch.arange(TOKENS))
    return kv


def undone(kv: torch.Tensor, believed: Rope | None) -> torch.Tensor:
    if believed is not None:
        believed.unrotate(kv[:, :, 0], torch.arange(TOKENS))
    return kv


def test_a_model_that_is_understood_passes() -> None:
    verdict = judge(undone(cached(rope()), rope()), torch.float32)
    assert verdict.reason == ""
    assert verdict.errors["rope_keys"] < 1e-5


def test_the_wrong_pairing_is_refused() -> None:
    assert "undoing RoPE" in judge(undone(cached(rope()), rope(neox=False)), torch.float32).reason


def test_the_wrong_rotated_part_is_refused() -> None:
    assert "undoing RoPE" in judge(undone(cached(rope(dims=8)), rope()), torch.float32).reason


def test_the_wrong_frequencies_are_refused() -> None:
    believed = rope(base=500000.0)
    assert "undoing RoPE" in judge(undone(cached(rope()), believed), torch.bfloat16).reason


def test_a_layer_without_rope_taken_for_one_with_it_is_refused() -> None:
    assert "undoing RoPE" in judge(undone(cached(None), rope()), torch.float32).reason


def test_positions_that_reach_the_values_are_refused() -> None:
    kv = undone(cached(rope()), rope())
    kv[:, 1, 1] += torch.arange(TOKENS).float()[:, None, None]
    assert "values depend on the position (layer 1" in judge(kv, torch.float32).reason


def test_values_that_are_not_finite_are_refused() -> None:
    kv = cached(None)
    kv[2, 0, 0, 0, 0] = float("nan")
    assert "not finite" in judge(kv, torch.float32).reason
