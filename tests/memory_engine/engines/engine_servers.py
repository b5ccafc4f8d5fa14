"""Engines in processes of their own, which start while other tests run."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from scripts.readme import ROOT
from tests.memory_engine.engines.fake_vllm_server import KEY
from tests.memory_engine.engines.router_server import free_ports, until_healthy

# Whoever does not wait for them goes first.
NICE = ("nice", "-n", "10")


@dataclass(frozen=True, slots=True)
class ServedEngine:
    """`inferscale engine` in a process of its own, and how to reach it."""

    url: str
    process: subprocess.Popen[bytes]

    async def answers(self) -> None:
        """Wait until it serves; AssertionError if it ends before."""
        while True:
            try:
                return await until_healthy(self.url, patience=5)
            except TimeoutError:
                assert self.process.poll() is None, "an engine did not start"


def begun(model: Path, folder: Path) -> ServedEngine:
    """An engine that begins to start: 1,024 tokens of arena and 1,344 of paged cache."""
    (port,) = free_ports(1)
    environment = {name: v for name, v in os.environ.items() if not name.startswith("INFERSCALE_")}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "INFERSCALE_MODEL": str(model),
        "INFERSCALE_SIGNING_KEY": KEY,
        "INFERSCALE_DATA_DIR": str(folder),
        "INFERSCALE_ARENA_MIB": "16",
        "INFERSCALE_KV_CACHE_MIB": "21",
        "INFERSCALE_MAX_MODEL_LEN": "1024",
        "INFERSCALE_DTYPE": "float32",
    }
    command = [*NICE, sys.executable, "-m", "inferscale", "engine", "--port", str(port)]
    command += ["--", "--max-num-batched-tokens", "256", "--block-size", "32"]
    return ServedEngine(f"http://127.0.0.1:{port}", subprocess.Popen(command, env=environment))


class Serving:
    """Two engines of one model, begun at once; the second one may be killed, by one test."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.engines = (begun(model, folder), begun(model, folder))

    def end(self) -> None:
        """Let nothing of them outlive the session."""
        for engine in self.engines:
            engine.process.terminate()
        for engine in self.engines:
            engine.process.wait()
