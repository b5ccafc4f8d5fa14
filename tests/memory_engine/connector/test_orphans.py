"""An engine process ends when the program that started it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import memory_engine

MODULE = Path(memory_engine.__file__).parent / "connector" / "orphans.py"
CHILD = f"""
import runpy, time
runpy.run_path({str(MODULE)!r})["end_with_parent"]()
print("watching", flush=True)
time.sleep(60)
"""
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_process_whose_parent_is_killed_ends_by_itself() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert alive(child)
        os.kill(parent.pid, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while alive(child) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not alive(child)
