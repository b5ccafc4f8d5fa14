"""Chunked RoPE: keys are kept unrotated and rotated for the position they are served at.

The rotation is read from the live model's own cos/sin table, so every scaling (linear,
NTK, Llama-3, YaRN, LongRoPE) is what the engine uses. With T(p) the 2x2 block of table
row p, the engine caches K = T(p) k. A table may carry a factor m (YaRN's mscale) and be
rounded to bf16, so T(p) is a rotation times c^2 + s^2 != 1: undoing it divides by that.
"""

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Rope:
    """Rotation of one layer's keys.

    `table` is fp32 [max_position, rotary_dim], cosines in the first half of a row and
    sines in the second. Only the first rotary_dim dimensions of a head are rotated.
    `neox` pairs dimension i with i + rotary_dim/2, otherwise (GPT-J) 2i with 2i + 1.
    """

    table: torch.Tensor
    neox: bool

    @property
    def rotary_dim(self) -> int:
        return self.table.shape[1]

    def rotate(self, keys: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Rotate `keys` in place for `positions` and return them.

        keys: fp32 [tokens, ..., head_dim]; positions: int64 [tokens], below max_position.
        """
        cos, sin = self._cos_sin(keys, positions)
        return self._apply(keys, cos, sin)

    def unrotate(self, keys: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Undo `rotate` in place and return the keys; shapes as there."""
        cos, sin = self._cos_sin(keys, positions)
        norm = cos * cos + sin * sin
        return self._apply(keys, cos / norm, -sin / norm)

    def _cos_sin(
        self, keys: torch.Tensor, positions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows = self.table.index_select(0, positions)
        shape = (rows.shape[0], *([1] * (keys.dim() - 2)), self.rotary_dim // 2)
        cos, sin = rows.chunk(2, dim=-1)
        return cos.reshape(shape), sin.reshape(shape)

    def _apply(self, keys: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        half = self.rotary_dim // 2
        if self.neox:
            first, second = keys[..., :half], keys[..., half : self.rotary_dim]
        else:
            first, second = keys[..., 0 : self.rotary_dim : 2], keys[..., 1 : self.rotary_dim : 2]
        rotated = first * cos - second * sin
        second.mul_(cos).addcmul_(first, sin)
        first.copy_(rotated)
        return keys
