"""Mistakes that a connector could make silently, put into this one on purpose."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from unittest import mock

import torch

from memory_engine.connector.gpu import live_model as model
from memory_engine.connector.gpu.rope import Rope
from memory_engine.connector.segments.arena import Arena, Slots

UNDOING, AFTER = "^undoing RoPE leaves keys", "^after an injection undoing RoPE leaves keys"
TOKENS = "^injection changes the next token's probabilities"


@dataclass(frozen=True, slots=True)
class Sabotage:
    """A mistake, the family it is made with, and how the gate has to refuse it."""

    name: str
    family: str
    refusal: str
    patch: Any  # makes the mistake while it is entered


@contextmanager
def _ropes(mistaken: Callable[[Any, Rope], Rope]) -> Iterator[None]:
    """Every RoPE read from the model is replaced by `mistaken(rotary module, right one)`."""
    right = model._rope
    with mock.patch.object(model, "_rope", lambda rotary, on: mistaken(rotary, right(rotary, on))):
        yield


def _other_pairing(rotary: Any, rope: Rope) -> Rope:
    return replace(rope, neox=not rope.neox)


def _half_rotated(rotary: Any, rope: Rope) -> Rope:
    cos, sin = rope.table.chunk(2, dim=-1)
    kept = rope.rotary_dim // 4
    return replace(rope, table=torch.cat([cos[:, :kept], sin[:, :kept]], dim=-1))


def _unscaled(rotary: Any, rope: Rope) -> Rope:
    dims = rope.rotary_dim
    frequencies = 1.0 / 10000.0 ** (torch.arange(0, dims, 2).float() / dims)
    angles = torch.arange(len(rope.table)).float()[:, None] * frequencies
    return replace(rope, table=torch.cat([angles.cos(), angles.sin()], dim=-1))


def _short_half(rotary: Any, rope: Rope) -> Rope:
    return replace(rope, table=rotary.long_short_cos_sin_cache.float())


@cache
def _first_for_all() -> Callable[[Any, Rope], Rope]:
    seen: list[Rope] = []

    def first(rotary: Any, rope: Rope) -> Rope:
        seen.append(rope)
        return seen[0]

    return first


def _mscale_kept(self: Rope, keys: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    cos, sin = self._cos_sin(keys, positions)
    return self._apply(keys, cos, -sin)


def _reversed(self: Arena, owner: str, wanted: Iterable[tuple[str, int]]) -> list[Slots]:
    return [slots[::-1] for slots in _pin_run(self, owner, wanted)]


_rotate, _pin_run = Rope.rotate, Arena.pin_run

SABOTAGES = (
    Sabotage("the other pairing", "Llama", UNDOING, _ropes(_other_pairing)),
    Sabotage("the other pairing, bf16", "Llama, bf16", UNDOING, _ropes(_other_pairing)),
    Sabotage("NeoX pairing", "GLM-4", UNDOING, _ropes(_other_pairing)),
    Sabotage("half of the rotated part", "Llama", UNDOING, _ropes(_half_rotated)),
    Sabotage("no Llama-3 scaling", "Llama 3.1", UNDOING, _ropes(_unscaled)),
    Sabotage("no linear scaling", "Llama, linear", UNDOING, _ropes(_unscaled)),
    Sabotage("LongRoPE's other half", "Phi-3, long", UNDOING, _ropes(_short_half)),
    Sabotage("one RoPE for all layers", "Gemma 3", UNDOING, _ropes(_first_for_all())),
    Sabotage(
        "RoPE in every layer",
        "Command R7B",
        UNDOING,
        mock.patch.object(model, "_rotates", return_value=True),
    ),
    Sabotage(
        "mscale twice", "Llama, YaRN", AFTER, mock.patch.object(Rope, "unrotate", _mscale_kept)
    ),
    Sabotage(
        "not rotated at injection",
        "Llama",
        AFTER,
        mock.patch.object(Rope, "rotate", lambda self, keys, positions: keys),
    ),
    Sabotage(
        "rotated for the next position, bf16",
        "Llama, bf16",
        AFTER,
        mock.patch.object(Rope, "rotate", lambda s, keys, at: _rotate(s, keys, at + 1)),
    ),
    Sabotage(
        "tokens in another order",
        "Llama",
        TOKENS,
        mock.patch.object(Arena, "pin_run", _reversed),
    ),
    Sabotage(
        "tokens in another order, bf16",
        "Llama, bf16",
        TOKENS,
        mock.patch.object(Arena, "pin_run", _reversed),
    ),
)
