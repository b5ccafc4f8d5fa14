"""A program of the fleet: started, killed at any moment, started again, ended with its children."""

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import Process, create_subprocess_exec
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx
import psutil

from scripts.readme import ROOT

PATIENCE_S = 600.0  # for the start of a program on a machine that has other work
END_S = 30.0


class Program:
    """Not started. Its output is appended to a file, which errors quote.

    command: without the interpreter if it begins with `-m`. health: the URL that answers
    well when the program is ready.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        health: str,
        environment: Mapping[str, str],
        log: Path,
    ) -> None:
        self.name = name
        self._command = [sys.executable, *command] if command[0] == "-m" else list(command)
        self._health = health
        self._environment = environment
        self._log = log
        self._process: Process | None = None
        self._sessions: list[int] = []

    async def start(self) -> None:
        """Start it; it is not ready yet."""
        with self._log.open("ab") as log:
            self._process = await create_subprocess_exec(
                *self._command,
                cwd=ROOT,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._sessions.append(self._process.pid)

    async def ready(self) -> float:
        """Wait until it is; returns for how many seconds. Raises RuntimeError if it ends."""
        began = time.monotonic()
        async with httpx.AsyncClient() as client, asyncio.timeout(PATIENCE_S):
            while not await _is_well(client, self._health):
                if self._process is None or self._process.returncode is not None:
                    raise RuntimeError(f"{self.name} ended:\n{self.last_words()}")
                await asyncio.sleep(0.2)
        return time.monotonic() - began

    async def kill(self) -> None:
        """kill -9 of the program itself; its children are left to notice."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        """End it as an operator does, and by force if that takes too long."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def left(self, patience_s: float = 20.0) -> list[str]:
        """Command lines of what any start of it left behind, which is ended then."""
        end = time.monotonic() + patience_s
        while (found := self._alive()) and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        for session in self._sessions if found else ():
            _kill_group(session)
        return [" ".join(_cmdline(process)) for process in found]

    def last_words(self, lines: int = 30) -> str:
        """The end of its output."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:])

    def _alive(self) -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if _session(process) in self._sessions]


async def _is_well(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url, timeout=5.0)).is_success
    except httpx.TransportError:
        return False


def _session(process: psutil.Process) -> int:
    """The session of a process that runs, 0 of one that has ended."""
    try:
        return 0 if process.status() == psutil.STATUS_ZOMBIE else os.getsid(process.pid)
    except (psutil.NoSuchProcess, ProcessLookupError):
        return 0


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.NoSuchProcess:
        return []


def _kill_group(session: int) -> None:
    try:
        os.killpg(session, signal.SIGKILL)
    except ProcessLookupError:
        return
