"""The RoPE of models that vLLM runs through Transformers, such as GLM, SmolLM3 and OLMo 2.

There one module for the whole model turns positions into cosines and sines, and the
attention modules apply them by a function of their file. Both are called here: the table
is what the first returns, and the pairing is the one that gives what the second does.
"""

import inspect
import sys
from typing import Any

import torch

from memory_engine.connector.gpu.rope import Rope
from memory_engine.connector.gpu.unsupported import UnsupportedError

_BY_LENGTH = ("dynamic", "longrope")  # their frequencies change with the prompt's length
_TRIED = 7  # positions on which the pairings are compared


def runs_through_transformers(module: torch.nn.Module) -> bool:
    """True if `module` is a Transformers model that owns the RoPE of all its layers."""
    rotary = getattr(module, "rotary_emb", None)
    return rotary is not None and type(rotary).__module__.startswith("transformers.")


def shared_ropes(
    model: torch.nn.Module, attentions: dict[str, torch.nn.Module], device: torch.device
) -> dict[str, Rope]:
    """The RoPEs that `model` owns, by the names of those `attentions` that lie in it.

    Layers of one type share one. Raises UnsupportedError if a RoPE depends on more than a
    token's position, or is neither of the two pairings.
    """
    inside = {id(module) for module in model.modules()}
    known: dict[str, Rope] = {}
    ropes = {}
    for name, attention in attentions.items():
        if id(attention) in inside:
            kind = _layer_type(model.rotary_emb, attention)
            if kind not in known:
                known[kind] = _rope(model.rotary_emb, kind, attention, device)
            ropes[name] = known[kind]
    return ropes


def _layer_type(rotary: Any, attention: Any) -> str:
    """The type of layer that this RoPE wants to be told; "" if it serves all alike."""
    match list(inspect.signature(rotary.forward).parameters):
        case ["x", "position_ids"]:
            return ""
        case ["x", "position_ids", "layer_type"]:
            return str(attention.config.layer_types[attention.layer_idx])
        case _:
            raise UnsupportedError(f"{type(rotary).__name__} needs more than a token's position")


def _rope(rotary: Any, kind: str, attention: torch.nn.Module, device: torch.device) -> Rope:
    name, scaling = type(rotary).__name__, getattr(rotary, "rope_type", "")
    if (scaling[kind] if isinstance(scaling, dict) else scaling) in _BY_LENGTH:
        raise UnsupportedError(f"{name} changes with the prompt's length")
    like = next(attention.parameters())
    positions = torch.arange(rotary.max_seq_len_cached, device=like.device)[None]
    nothing = torch.empty(0, device=like.device, dtype=like.dtype)
    with torch.no_grad():
        cos, sin = rotary(nothing, positions, *filter(None, [kind]))
    half = cos.shape[-1] // 2
    table = torch.cat([cos[0, :, :half], sin[0, :, :half]], dim=-1).to(device, torch.float32)
    for neox in (True, False):
        if _applied_alike(Rope(table, neox), attention, cos, sin):
            return Rope(table, neox)
    raise UnsupportedError(f"{type(attention).__name__} applies {name} in a way of its own")


def _applied_alike(
    rope: Rope, attention: torch.nn.Module, cos: torch.Tensor, sin: torch.Tensor
) -> bool:
    apply = getattr(sys.modules[type(attention).__module__], "apply_rotary_pos_emb", None)
    if apply is None:
        return False
    generator = torch.Generator().manual_seed(0)
    keys = torch.randn(1, 1, _TRIED, rope.rotary_dim, generator=generator)
    tried = (part[:, :_TRIED].float().cpu() for part in (cos, sin))
    _, expected = apply(keys, keys, *tried)
    here = Rope(rope.table[:_TRIED].cpu(), rope.neox)
    rotated = here.rotate(keys[0, 0].clone(), torch.arange(_TRIED))
    return torch.allclose(rotated, expected[0, 0], atol=1e-4)
