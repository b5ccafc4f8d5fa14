"""The memory of one tier on one rank: keys and values of segments, keys unrotated."""

import weakref
from typing import Any

import torch

# A segment stored in FP8 has one scale a token, layer, K or V, and head.
FP8 = torch.float8_e4m3fn
_FP8_MAX = torch.finfo(FP8).max
_SMALLEST = 1e-12  # keeps the scale of an all-zero vector finite


class TierStore:
    """KV of `slots` tokens.

    `data` is [slots, layers, 2, kv_heads, head_dim] in the cache's dtype or FP8 (e4m3), and
    `scales` fp32 [slots, layers, 2, kv_heads], or None unless FP8. On the host, memory is
    page-locked if the device is a GPU, which may then read and write it itself.
    """

    def __init__(
        self,
        slots: int,
        shape: tuple[int, int, int],
        dtype: torch.dtype,
        device: torch.device,
        *,
        pin: bool = False,
    ) -> None:
        layers, heads, head_dim = shape
        self.data = torch.zeros((slots, layers, 2, heads, head_dim), dtype=dtype, device=device)
        self.scales: torch.Tensor | None = None
        if dtype == FP8:
            self.scales = torch.zeros((slots, layers, 2, heads), device=device)
        if pin:
            for tensor in self.tensors():
                _page_lock(tensor)

    @property
    def slots(self) -> int:
        return self.data.shape[0]

    def tensors(self) -> list[torch.Tensor]:
        """The tensors that hold a slot's bytes, slots first."""
        return [self.data] if self.scales is None else [self.data, self.scales]

    def rows(self) -> list[torch.Tensor]:
        """The same memory as int32 [slots, words], to be copied whatever it means."""
        return [tensor.flatten(1).view(torch.int32) for tensor in self.tensors()]

    def get(self, slots: torch.Tensor) -> torch.Tensor:
        """KV at int64 [tokens]: fp32 [tokens, layers, 2, heads, head_dim]."""
        kv = self.data.view(torch.uint8).index_select(0, slots).view(self.data.dtype).float()
        if self.scales is not None:
            kv *= self.scales.index_select(0, slots)[..., None]
        return kv

    def put(self, slots: torch.Tensor, kv: torch.Tensor) -> None:
        """Store fp32 `kv` [tokens, layers, 2, heads, head_dim] at int64 [tokens]."""
        if self.scales is not None:
            scale = kv.abs().amax(dim=-1).clamp_min(_SMALLEST) / _FP8_MAX
            self.scales.index_copy_(0, slots, scale)
            kv = kv / scale[..., None]
        raw = kv.to(self.data.dtype).contiguous().view(torch.uint8)
        self.data.view(torch.uint8).index_copy_(0, slots, raw)


def _page_lock(tensor: torch.Tensor) -> None:
    # torch's own pinned allocator rounds sizes up to a power of two.
    runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    address, size = tensor.data_ptr(), tensor.numel() * tensor.element_size()
    if size == 0:
        return
    status = runtime.cudaHostRegister(address, size, 0)
    if int(status) != 0:
        raise RuntimeError(f"{size >> 20} MiB of host memory cannot be page-locked: {status}")
    weakref.finalize(tensor.untyped_storage(), runtime.cudaHostUnregister, address)
