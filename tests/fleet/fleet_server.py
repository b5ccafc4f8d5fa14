"""Server of the whole fleet: PostgreSQL, two engines, vLLM's router, two app processes."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.db.revision import migrate
from app.models.bundled import llm_folder
from app.settings import Settings
from scripts.readme import ROOT
from tests.fleet.program_server import Program
from tests.memory_engine.engines.router_server import ROUTER, free_ports
from tests.memory_engine.engines.tiny_llama_builder import write_talking_llama
from tests.postgres_server import PostgresServer

# Room for the facts of a few hundred users, at 16 KiB a token.
SIZES = {
    "INFERSCALE_ARENA_MIB": "160",
    "INFERSCALE_KV_CACHE_MIB": "96",
    "INFERSCALE_MAX_MODEL_LEN": "1024",
    "INFERSCALE_DTYPE": "float32",
}
ENGINE_OPTIONS = ("--max-num-batched-tokens", "512", "--block-size", "32")


@dataclass(frozen=True, slots=True)
class Machine:
    """The parts, all of them running but for `alone`, an app with an engine of its own.

    `urls` are those of the apps, the one of `alone` last; `snapshots` is the folder where it
    keeps KV.
    """

    postgres: PostgresServer
    database: str
    engines: tuple[Program, Program]
    router: Program
    apps: tuple[Program, Program]
    alone: Program
    urls: tuple[str, str, str]
    snapshots: Path

    @property
    def programs(self) -> tuple[Program, ...]:
        """In the order in which they start."""
        return (*self.engines, self.router, *self.apps, self.alone)


@asynccontextmanager
async def running(folder: Path, programs: Path) -> AsyncIterator[Machine]:
    """Run the fleet, with data and logs in `folder`. `programs`: PostgreSQL's server programs.

    Raises RuntimeError when a part does not start, or leaves a process behind.
    """
    server = await asyncio.to_thread(PostgresServer, programs)
    try:
        await asyncio.to_thread(server.start)
        database = await asyncio.to_thread(server.create, "fleet")
        await asyncio.to_thread(migrate, database)
        model = folder / "model"
        await asyncio.to_thread(write_talking_llama, model, llm_folder(Settings().data_dir))
        machine = _parts(folder, model, server, database)
        try:
            await _start(machine)
            yield machine
        finally:
            left = await _end(machine)
    finally:
        await asyncio.to_thread(server.remove)
    if left:
        raise RuntimeError("Left behind:\n" + "\n".join(left))


def _parts(folder: Path, model: Path, server: PostgresServer, database: str) -> Machine:
    ports = free_ports(7)
    engine_urls, apps = [_url(port) for port in ports[:2]], ports[4:]
    common = _environment(model, folder)
    engines = [_engine(number, ports[number], common, folder) for number in range(2)]
    stored = common | {"INFERSCALE_DATABASE_URL": database}
    shared = stored | {
        "INFERSCALE_ENGINES": ",".join(engine_urls),
        "INFERSCALE_ROUTER": _url(ports[2]),
    }
    return Machine(
        server,
        database,
        (engines[0], engines[1]),
        _router(ports[2], ports[3], engine_urls, common, folder),
        (_app(0, apps[0], shared, folder), _app(1, apps[1], shared, folder)),
        _app(2, apps[2], stored, folder),
        (_url(apps[0]), _url(apps[1]), _url(apps[2])),
        folder / "app-2" / "kv",
    )


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _engine(number: int, port: int, environment: dict[str, str], folder: Path) -> Program:
    command = ["-m", "inferscale", "engine", "--port", str(port), "--", *ENGINE_OPTIONS]
    health, log = f"{_url(port)}/health", folder / f"engine-{number}.log"
    return Program(f"engine {number}", command, health, environment, log)


def _router(
    port: int, metrics: int, engines: list[str], environment: dict[str, str], folder: Path
) -> Program:
    options = f"--policy consistent_hash --port {port} --prometheus-port {metrics}"
    options += " --health-check-interval-secs 1 --health-failure-threshold 1"
    options += " --health-success-threshold 1 --disable-circuit-breaker"
    options += " --log-level error --worker-urls"
    command = [str(ROUTER), *options.split(), *engines]
    return Program("router", command, f"{_url(port)}/health", environment, folder / "router.log")


def _app(number: int, port: int, environment: dict[str, str], folder: Path) -> Program:
    own = {
        "INFERSCALE_DATA_DIR": str(folder / f"app-{number}"),
        "INFERSCALE_PORT": str(port),
        "INFERSCALE_EXTRACTOR": "rules",
        "INFERSCALE_TAIL": "0",
    }
    health, log = f"{_url(port)}/readyz", folder / f"app-{number}.log"
    command = ["-m", "inferscale", "serve"]
    return Program(f"app {number}", command, health, environment | own, log)


def _environment(model: Path, folder: Path) -> dict[str, str]:
    kept = {name: v for name, v in os.environ.items() if not name.startswith("INFERSCALE_")}
    return (
        kept
        | SIZES
        | {
            "PYTHONPATH": str(ROOT),
            "INFERSCALE_MODEL": str(model),
            "INFERSCALE_DATA_DIR": str(folder / "engines"),
            "INFERSCALE_SIGNING_KEY": secrets.token_hex(32),
        }
    )


async def _start(machine: Machine) -> None:
    """Engines, then the router, then the apps, as docs/fleet.md says."""
    for group in (machine.engines, (machine.router,), machine.apps):
        for program in group:
            await program.start()
        await asyncio.gather(*(program.ready() for program in group))


async def _end(machine: Machine) -> list[str]:
    for group in ((*machine.apps, machine.alone), (machine.router,), machine.engines):
        await asyncio.gather(*(program.stop() for program in group))
    found = await asyncio.gather(*(program.left() for program in machine.programs))
    return [line for lines in found for line in lines]
