"""The process that measures the families, which the tests before theirs need not wait for."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


class Measuring:
    """Runs `tests.memory_engine.families.suite_process` from now on, its output in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._said, self._errors = folder / "said", folder / "errors"
        with self._said.open("w") as said, self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.memory_engine.families.suite_process"],
                cwd=ROOT,
                stdout=said,
                stderr=errors,
                env=os.environ | {"VLLM_LOGGING_LEVEL": "ERROR"},
            )

    def lines(self) -> list[str]:
        """All it said, when it is done."""
        assert self._process.wait() == 0, self._errors.read_text()[-4000:]
        return self._said.read_text().splitlines()

    def end(self) -> None:
        """Let nothing of it outlive the session."""
        self._process.kill()
        self._process.wait()
