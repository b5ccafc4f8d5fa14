"""vLLM's own router, as `docs/fleet.md` says to start it, and free ports."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

ROUTER = Path(sys.executable).parent / "vllm-router"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(opened.getsockname()[1]) for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


@asynccontextmanager
async def routed(urls: Sequence[str]) -> AsyncIterator[str]:
    """The URL of a router over engines that answer."""
    port, metrics = free_ports(2)
    options = f"--policy consistent_hash --port {port} --prometheus-port {metrics}"
    options += " --health-check-interval-secs 1 --health-failure-threshold 1"
    options += " --health-success-threshold 1 --disable-circuit-breaker"
    options += " --log-level error --worker-urls"
    process = await asyncio.create_subprocess_exec(
        ROUTER, *options.split(), *urls, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        url = f"http://127.0.0.1:{port}"
        await until_healthy(url)
        yield url
    finally:
        process.kill()
        await process.wait()


async def until_healthy(url: str, patience: float = 60) -> None:
    """Wait for the first good answer of /health."""
    async with httpx.AsyncClient() as client, asyncio.timeout(patience):
        while not await _is_healthy(client, url):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def _is_healthy(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(f"{url}/health")).is_success
    except httpx.TransportError:
        return False
