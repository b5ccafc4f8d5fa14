"""Transfer of a step's index arrays to the device, without a wait."""

import torch

_RING = 8  # vLLM has two steps in flight at most, and a step sends a few arrays
_SMALLEST = 1 << 14


class Staging:
    """Page-locked buffers, taken round robin, from which copies to `device` run unattended."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._ring: list[tuple[torch.Tensor, torch.cuda.Event]] = []
        self._turn = 0

    def send(self, array: torch.Tensor) -> torch.Tensor:
        """A copy of `array`, on the CPU, any shape, int32, on the device. Queued, not awaited."""
        if self._device.type != "cuda":
            return array
        buffer, free = self._buffer(array.numel())
        # Passed long ago, unless someone sends more in a step than the ring holds.
        free.synchronize()
        staged = buffer[: array.numel()].view(array.shape)
        staged.copy_(array)
        sent = staged.to(self._device, non_blocking=True)
        free.record()
        return sent

    def _buffer(self, size: int) -> tuple[torch.Tensor, torch.cuda.Event]:
        self._turn = (self._turn + 1) % _RING
        if len(self._ring) <= self._turn:
            self._turn = len(self._ring)
            self._ring.append((self._pinned(size), torch.cuda.Event()))  # type: ignore[no-untyped-call]
        buffer, free = self._ring[self._turn]
        if buffer.numel() < size:
            self._ring[self._turn] = buffer, free = self._pinned(2 * size), free
        return buffer, free

    @staticmethod
    def _pinned(size: int) -> torch.Tensor:
        return torch.empty(max(size, _SMALLEST), dtype=torch.int32, pin_memory=True)
