"""Chunked RoPE against complex rotation, for both pairings, partial rotary and mscale."""

import pytest
import torch

from memory_engine.connector.gpu.rope import Rope


def table(rotary_dim: int, positions: int = 64, scale: float = 1.0) -> torch.Tensor:
    frequencies = 1.0 / 10000 ** (torch.arange(0, rotary_dim, 2).float() / rotary_dim)
    angles = torch.arange(positions).float()[:, None] * frequencies
    return torch.cat([angles.cos(), angles.sin()], dim=-1) * scale


def reference(
    keys: torch.Tensor, positions: torch.Tensor, rope: Rope, scale: float
) -> torch.Tensor:
    """Rotation as multiplication by unit complex numbers."""
    half = rope.rotary_dim // 2
    first = slice(0, half) if rope.neox else slice(0, rope.rotary_dim, 2)
    second = slice(half, rope.rotary_dim) if rope.neox else slice(1, rope.rotary_dim, 2)
    numbers = torch.complex(keys[..., first].double(), keys[..., second].double())
    frequencies = 1.0 / 10000 ** (torch.arange(0, rope.rotary_dim, 2).double() / rope.rotary_dim)
    angles = positions.double()[:, None, None] * frequencies
    turned = numbers * torch.polar(torch.full_like(angles, scale), angles)
    out = keys.double().clone()
    out[..., first], out[..., second] = turned.real, turned.imag
    return out


@pytest.mark.parametrize("neox", [True, False])
@pytest.mark.parametrize("rotary_dim", [16, 8])
@pytest.mark.parametrize("scale", [1.0, 1.27])
def test_rotation_matches_complex_multiplication(neox: bool, rotary_dim: int, scale: float) -> None:
    rope = Rope(table(rotary_dim, scale=scale), neox)
    keys, positions = torch.randn(7, 3, 16), torch.randint(0, 64, (7,))
    expected = reference(keys, positions, rope, scale)
    torch.testing.assert_close(
        rope.rotate(keys.clone(), positions).double(), expected, rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("neox", [True, False])
@pytest.mark.parametrize("rounded", [torch.float32, torch.bfloat16])
def test_undoing_a_rotation_gives_the_key_back_even_from_a_rounded_table(
    neox: bool, rounded: torch.dtype
) -> None:
    rope = Rope(table(8, scale=1.27).to(rounded).float(), neox)
    keys, positions = torch.randn(5, 2, 3, 16), torch.randint(0, 64, (5,))
    turned = rope.rotate(keys.clone(), positions)
    assert not torch.allclose(turned, keys)
    torch.testing.assert_close(rope.unrotate(turned, positions), keys, rtol=1e-5, atol=1e-5)


def test_a_key_moved_to_another_position_is_the_key_rotated_there() -> None:
    rope = Rope(table(16), True)
    key, there = torch.randn(1, 2, 16), torch.tensor([41])
    stored = rope.unrotate(rope.rotate(key.clone(), torch.tensor([3])), torch.tensor([3]))
    torch.testing.assert_close(rope.rotate(stored, there), rope.rotate(key.clone(), there))
