"""Mem0 in a process of its own, with the same facts, questions and embedding model.

Mem0 needs other versions of packages than vLLM does, so it runs under an interpreter of its
own, which has `mem0ai` and `sentence-transformers`.
"""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.quality.peers import mem0_process
from benchmarks.quality.retrieval.evidence import EvidenceTask
from memory_engine.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Mem0Answer:
    """Fact ids that Mem0 found, by question id, and the milliseconds of each call."""

    version: str
    found: dict[str, list[str]]
    add_ms: list[float]
    search_ms: list[float]


async def ask_mem0(
    python: Path, model: Path, dimension: int, tasks: Sequence[EvidenceTask], k: int
) -> Mem0Answer:
    """Add every fact, one at a time, and search for every question.

    model: the folder of the embedding model. Raises SettingsError if Mem0 does not run there.
    """
    with TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task.json", Path(folder) / "answer.json"
        owners = [
            {
                "owner": m.owner,
                "facts": [[fact.id, fact.text] for fact in m.facts],
                "questions": [[q.id, q.text] for q in m.questions],
            }
            for m in tasks
        ]
        asked = {"model": str(model), "dimension": dimension, "k": k, "owners": owners}
        await asyncio.to_thread(task.write_text, json.dumps(asked), encoding="utf-8")
        await _run(python, task, answer, folder)
        told = json.loads(await asyncio.to_thread(answer.read_text, encoding="utf-8"))
    return Mem0Answer(**told)


async def _run(python: Path, task: Path, answer: Path, folder: str) -> None:
    # One thread for its embedding model, as InferScale's has.
    given = {
        "OMP_NUM_THREADS": "1",
        "MEM0_TELEMETRY": "False",
        "MEM0_DIR": folder,
        "HF_HUB_OFFLINE": "1",
    }
    # -I: this package's folder must not shadow the modules that Mem0 imports.
    command = [str(python), "-I", "-X", "utf8", str(mem0_process.__file__), str(task), str(answer)]
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**os.environ, **given},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise SettingsError(f"{python} cannot be started: {error.strerror or error}.") from error
    _, said = await process.communicate()
    if process.returncode != 0:
        last = said.decode(errors="replace").strip().splitlines()[-1:]
        raise SettingsError(
            f"Mem0 does not run under {python}: {' '.join(last)} It needs an environment of its "
            "own: `uv venv mem0 && uv pip install -p mem0 mem0ai sentence-transformers`."
        )
