"""A wheel of the repository, installed elsewhere, is the whole program."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from asyncio.subprocess import PIPE, create_subprocess_exec
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from agent.db.revision import head_revision
from scripts.readme import ROOT
from tests.memory_engine.engines.fake_vllm_server import KEY, FakeServe, serving
from tests.structure.parsed_sources import PRODUCT

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
OFFLINE = ("--no-deps", "--no-index", "--no-cache-dir")


def tracked(*folders: str) -> list[str]:
    """The files that git tracks or would track, but those that are deleted."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return sorted(name for name in set(listed.stdout.splitlines()) if (ROOT / name).is_file())


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel, and a folder to work in."""

    python: Path
    home: Path
    environment: dict[str, str]

    async def run(self, *arguments: str) -> str:
        """Run `inferscale` to its end; its standard output. AssertionError if it fails."""
        process = await self.start(*arguments)
        try:
            out, err = await asyncio.wait_for(process.communicate(), 500)
        finally:
            if process.returncode is None:
                process.kill()
        assert process.returncode == 0, err.decode()
        return out.decode()

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        """Start `inferscale`."""
        program = self.python.with_name("inferscale")
        return await create_subprocess_exec(
            program, *arguments, cwd=self.home, env=self.environment, stdout=PIPE, stderr=PIPE
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built from a copy: a build leaves files behind."""
    copy, built = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in tracked(*PRODUCT, "requirements", "pyproject.toml", "README.md", "LICENSE"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
    command = [*PIP, "wheel", "--no-build-isolation", *OFFLINE, "-w", str(built), str(copy)]
    subprocess.run(command, check=True)
    (path,) = built.iterdir()
    return path


@pytest.fixture(scope="module")
def installed(
    wheel: Path, bundled_llm: Path, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    """The wheel in an environment that has our dependencies, and not our checkout."""
    home = tmp_path_factory.mktemp("elsewhere")
    venv.create(home / "venv", with_pip=False, symlinks=True)
    python = home / "venv" / "bin" / "python"
    command = [*PIP, "--python", str(python), "install", *OFFLINE, "--no-compile", str(wheel)]
    subprocess.run(command, check=True)
    # Of a folder that a .pth file names, Python reads no .pth files: not the one that leads
    # to the checkout.
    dependencies = sysconfig.get_path("purelib")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = home / "venv" / "lib" / version / "site-packages"
    (packages / "dependencies.pth").write_text(f"{dependencies}\n")
    theirs = ("INFERSCALE_", "PYTHON", "VIRTUAL_ENV")
    environment = {name: v for name, v in os.environ.items() if not name.startswith(theirs)}
    environment |= {
        "INFERSCALE_DATA_DIR": str(home / "data"),
        "INFERSCALE_MODEL": str(bundled_llm),
        "INFERSCALE_MAX_TOKENS": "8",
    }
    return Installed(python, home, environment)


@asynccontextmanager
async def with_an_engine(installed: Installed) -> AsyncIterator[Installed]:
    """The same, told of an engine without a model."""
    async with serving(FakeServe()) as engine:
        theirs = {"INFERSCALE_ENGINES": engine.url, "INFERSCALE_SIGNING_KEY": KEY}
        yield Installed(installed.python, installed.home, installed.environment | theirs)


def test_a_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packaged = [name for name in names if ".dist-info/" not in name]
    assert sorted(packaged) == tracked(*PRODUCT)
    assert {name.split("/")[0] for name in packaged} == set(PRODUCT)


async def test_what_is_imported_is_the_wheel(installed: Installed) -> None:
    places = "from importlib.util import find_spec\n"
    places += f"for name in {PRODUCT}: print(find_spec(name).submodule_search_locations[0])"
    process = await create_subprocess_exec(
        installed.python, "-c", places, cwd=installed.home, env=installed.environment, stdout=PIPE
    )
    out, _ = await process.communicate()
    folders = out.decode().splitlines()
    assert len(folders) == len(PRODUCT)
    assert all(Path(folder).is_relative_to(installed.home) for folder in folders), folders


async def test_a_wheel_migrates_plans_and_prints_its_settings(installed: Installed) -> None:
    assert f"is at revision {head_revision()}" in await installed.run("migrate")
    assert "INFERSCALE_DATA_DIR" in await installed.run("settings")
    planned = json.loads(await installed.run("plan", "--model", "llama-8b", "--json"))
    assert planned["engines"] > 0


async def test_a_wheel_passes_the_doctor(installed: Installed) -> None:
    await installed.run("migrate")
    async with with_an_engine(installed) as program:
        report = json.loads(await program.run("doctor", "--json"))
    assert report["ok"], report
    assert {"database", "model families", "conformance"} <= {c["name"] for c in report["checks"]}


@pytest.mark.fleet
async def test_a_wheel_passes_the_doctor_with_the_bundled_model(installed: Installed) -> None:
    await installed.run("migrate")
    report = json.loads(await installed.run("doctor", "--json"))
    assert report["ok"], report
    assert report["checks"][-1]["name"] == "conformance"


async def test_a_wheel_serves_the_page_and_the_api_until_it_is_told_to_stop(
    installed: Installed,
) -> None:
    await installed.run("migrate")
    async with with_an_engine(installed) as program:
        process = await program.start("serve", "--port", "0")
        try:
            assert process.stdout is not None
            line = await asyncio.wait_for(process.stdout.readline(), 200)
            url = line.decode().split()[-1]
            await _ask(url)
            process.send_signal(signal.SIGTERM)
            _, err = await asyncio.wait_for(process.communicate(), 60)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    assert process.returncode == 0, err.decode()


async def _ask(url: str) -> None:
    message = {"role": "user", "content": "Hello."}
    body = {"model": "inferscale-kv", "messages": [message], "user": "ann"}
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        assert (await client.get("/healthz")).is_success
        assert (await client.get("/readyz")).is_success
        style = (ROOT / "ui" / "shell" / "style.css").read_text(encoding="utf-8")
        rule = style[style.index("{") + 1 : style.index("}")].strip().splitlines()[0]
        assert rule in (await client.get("/")).text
        reply = await client.post("/v1/chat/completions", json=body)
        assert reply.is_success, reply.text
        assert reply.json()["choices"][0]["message"]["content"]
