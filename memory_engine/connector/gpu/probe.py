"""Check of a model's KV on one prefill of a repeated token.

In a prompt of one token repeated, every position has the same embedding, and attention
averages equal values: so at every layer each position has the same hidden state, and its
cached key differs from the others by rotation alone. Undoing the rotation must therefore
give the same key at every position and every layer. This proves pairing, rotated part,
scaling, table, page layout and slot arithmetic at once, and that a layer without RoPE
really has none. It holds for sliding windows, QK-norm and soft caps alike.

With segments of that token injected, encoded at other positions and in another order, the
same must hold across injected and prefilled positions: this proves the injection's shift.
"""

from dataclasses import dataclass, field

import torch

from memory_engine.connector.segments.tier_store import FP8

# Relative deviation from the first position that rounding explains, by the dtype of the cache
# and that of the store.
TOLERANCE = {torch.float32: 5e-3, torch.float16: 2e-2, torch.bfloat16: 6e-2, FP8: 0.15}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a probe. `errors` are relative deviations by check; `reason` if refused."""

    reason: str = ""
    errors: dict[str, float] = field(default_factory=dict)


def judge(kv: torch.Tensor, *dtypes: torch.dtype) -> Verdict:
    """Judge unrotated KV of one repeated token: fp32 [tokens, layers, 2, heads, head_dim].

    dtypes: what its values have been rounded to, by the cache and by the store. The errors
    are the largest over layers of ||x_p - x_0|| / ||x_0||, maximum over positions p.
    """
    reference = kv[:1]
    size = reference.flatten(3).norm(dim=-1).clamp_min(1e-30)
    deviation = ((kv - reference).flatten(3).norm(dim=-1) / size).amax(dim=0)
    key_error, value_error = (float(e) for e in deviation.amax(dim=0))
    errors = {"rope_keys": key_error, "position_free_values": value_error}
    tolerance = max(TOLERANCE[dtype] for dtype in dtypes)
    if not torch.isfinite(kv).all():
        return Verdict("the paged cache holds values that are not finite", errors)
    if value_error > tolerance:
        layer = int(deviation[:, 1].argmax())
        reason = f"values depend on the position (layer {layer}, error {value_error:.2g})"
        return Verdict(f"{reason}: the model adds positions outside RoPE", errors)
    if key_error > tolerance:
        layer = int(deviation[:, 0].argmax())
        reason = f"undoing RoPE leaves keys that depend on the position (layer {layer}, "
        return Verdict(f"{reason}error {key_error:.2g})", errors)
    return Verdict(errors=errors)
