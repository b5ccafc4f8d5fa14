"""Timer of work on the device that does not wait for it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


class DeviceTimer:
    """Sums up the time that the current stream of a device spends, by name, in seconds."""

    def __init__(self, device: torch.device) -> None:
        self._gpu = device.type == "cuda"
        self._seconds: dict[str, float] = {}
        self._open: list[tuple[str, Any, Any]] = []
        self._spare: list[tuple[Any, Any]] = []

    @contextmanager
    def measured(self, name: str) -> Iterator[None]:
        """Around work that is queued; on a CPU, done."""
        if not self._gpu:
            started = time.perf_counter()
            yield
            self._count(name, time.perf_counter() - started)
            return
        begin, end = self._spare.pop() if self._spare else (timing_event(), timing_event())
        begin.record()
        yield
        end.record()
        self._open.append((name, begin, end))

    def take(self) -> dict[str, float]:
        """Seconds of the work finished since the last call, by name."""
        still_open = []
        for name, begin, end in self._open:
            if end.query():
                self._count(name, begin.elapsed_time(end) / 1e3)
                self._spare.append((begin, end))
            else:
                still_open.append((name, begin, end))
        self._open = still_open
        seconds, self._seconds = self._seconds, {}
        return seconds

    def _count(self, name: str, seconds: float) -> None:
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds


def timing_event() -> Any:
    """An event of the device's that knows when it was passed."""
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
