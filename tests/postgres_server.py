"""A private PostgreSQL server on a Unix socket, that tests may kill, stop and start again."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg

OPTIONS = "fsync=off", "full_page_writes=off", "autovacuum=off", "shared_buffers=16MB"


class PostgresServer:
    """Not started. Its superuser is `inferscale`, without a password.

    programs: the folder of `initdb` and `pg_ctl`. `home` has its data and its socket. PostgreSQL
    refuses to run as root, so root runs it as somebody else. With `loses_commits` it is faster,
    and a kill may take what was just committed.
    """

    def __init__(self, programs: Path, *, loses_commits: bool = False) -> None:
        self._programs = programs
        self._user = _unprivileged_user()
        self._options = [*OPTIONS, f"synchronous_commit={'off' if loses_commits else 'on'}"]
        self.home = Path(tempfile.mkdtemp(prefix="inferscale-pg-"))
        if self._user:
            shutil.chown(self.home, self._user)
        self._execute("initdb", "-U", "inferscale", "-A", "trust", "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        """Start, after a kill too, and wait until it answers."""
        options = f"-k {self.home} -c listen_addresses= " + " ".join(
            f"-c {each}" for each in self._options
        )
        self._execute("pg_ctl", "start", "-w", "-o", options, "-l", str(self.home / "log"))

    def stop(self) -> None:
        """Stop at once, if it runs."""
        if (self.home / "data" / "postmaster.pid").exists():
            self._execute("pg_ctl", "stop", "-m", "immediate")

    def kill(self) -> None:
        """kill -9: nothing is written down, and every connection breaks."""
        processes = self._processes()
        self._signal(processes, signal.SIGKILL)
        for process in processes:
            while _lives(process):
                pass
        # Where nobody reaps a dead process, its number still seems to be taken.
        for left in (self.home / "data" / "postmaster.pid", *self.home.glob(".s.PGSQL.*.lock")):
            left.unlink()

    def pause(self) -> None:
        """Hang: connections stay open and nothing is answered."""
        self._signal(self._processes(), signal.SIGSTOP)

    def go_on(self) -> None:
        """End a pause."""
        self._signal(self._processes(), signal.SIGCONT)

    def run(self, statement: str) -> None:
        """Execute a statement outside of any transaction."""
        with psycopg.connect(
            host=str(self.home), user="inferscale", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(statement.encode())

    def create(self, name: str, how: str = "") -> str:
        """Create an empty database; its SQLAlchemy URL."""
        self.run(f"CREATE DATABASE {name} {how}")
        return f"postgresql+psycopg://inferscale@/{name}?host={self.home}"

    def owned(self, folder: Path) -> Path:
        """Make a folder that the server may write."""
        folder.mkdir()
        if self._user:
            shutil.chown(folder, self._user)
        return folder

    def remove(self) -> None:
        """Stop, and delete everything."""
        self.stop()
        shutil.rmtree(self.home)

    def _processes(self) -> list[int]:
        main = int((self.home / "data" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        return [main, *map(int, children)]

    def _signal(self, processes: list[int], which: signal.Signals) -> None:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, which)

    def _execute(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, "-D", self.home / "data", *arguments],
            check=True,
            user=self._user,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )


def _unprivileged_user() -> str | None:
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
