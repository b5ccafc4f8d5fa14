"""Snapshots on disk: an owner's segments, one safetensors file a rank.

    <folder>/<digest of the owner>.<rank>of<ranks>.safetensors

The tensors are the rows of a `TierStore`, in the order of the ids that the header names. A file
is written whole and then renamed, so that no half of one is ever read; it may be deleted at
any time, for KV can be computed again.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

_MODE_FILE, _MODE_FOLDER = 0o600, 0o700  # what a file holds can be turned back into text


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of a snapshot: ids with their lengths in tokens, in the order of its rows.

    fingerprint: of the model that computed it (`EngineInfo.fingerprint`).
    """

    fingerprint: str
    segments: tuple[tuple[str, int], ...]

    @property
    def version(self) -> str:
        """Equal for files of one snapshot, whatever the rank."""
        return hashlib.sha256(json.dumps([self.fingerprint, self.segments]).encode()).hexdigest()


def path_of(folder: str, owner: str, rank: int, ranks: int) -> Path:
    """Path of a rank's part of an owner's snapshot."""
    digest = hashlib.sha256(owner.encode()).hexdigest()[:32]
    return Path(folder) / f"{digest}.{rank}of{ranks}.safetensors"


def write(path: Path, contents: Contents, rows: Sequence[torch.Tensor]) -> None:
    """Replace the file. rows: tensors on the CPU, [tokens, ...]. Raises OSError."""
    path.parent.mkdir(mode=_MODE_FOLDER, parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.touch(mode=_MODE_FILE)
    rows = [each.contiguous() for each in rows]
    header = {
        "fingerprint": contents.fingerprint,
        "segments": json.dumps(contents.segments),
        "version": contents.version,
        "digest": _digest(contents.version, rows),
    }
    try:
        save_file({f"rows{n}": each for n, each in enumerate(rows)}, unfinished, header)
    except SafetensorError as error:
        raise OSError(f"{unfinished} cannot be written: {error}") from error
    unfinished.replace(path)


def contents(path: Path) -> Contents | None:
    """Contents of the file, or None if there is no file, or none that can be read."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
        segments = tuple((str(i), int(n)) for i, n in json.loads(header["segments"]))
        return Contents(header["fingerprint"], segments)
    except (OSError, SafetensorError, KeyError, ValueError, TypeError):
        return None


def read(path: Path, version: str) -> list[torch.Tensor]:
    """The rows as they were written, on the CPU.

    Raises OSError if it is not that version's file, or was changed since it was written: KV
    that is damaged looks like any other, and would be answered from.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            if header.get("version") != version:
                raise OSError(f"{path} belongs to another snapshot than the first rank's")
            rows = [file.get_tensor(f"rows{n}") for n in range(len(file.keys()))]
    except SafetensorError as error:
        raise OSError(f"{path} cannot be read: {error}") from error
    if header.get("digest") != _digest(version, rows):
        raise OSError(f"{path} is damaged")
    return rows


def paths(folder: str, owner: str) -> list[Path]:
    """Every file of the owner's snapshot, of every rank, finished or not."""
    name = path_of(folder, owner, 0, 1).name.split(".")[0]
    return sorted(Path(folder).glob(f"{name}.*"))


def remove(folder: str, owner: str) -> None:
    """Delete the owner's snapshot, of every rank."""
    for path in paths(folder, owner):
        path.unlink(missing_ok=True)


def prune(folder: str, budget: int, keep: str) -> None:
    """Delete the oldest snapshots until the folder holds at most `budget` bytes.

    keep: the owner whose snapshot stays.
    """
    kept = path_of(folder, keep, 0, 1).name.split(".")[0]
    files = sorted(Path(folder).glob("*.safetensors"), key=lambda path: path.stat().st_mtime)
    held = sum(path.stat().st_size for path in files)
    for path in files:
        if held <= budget:
            return
        if not path.name.startswith(kept):
            held -= path.stat().st_size
            path.unlink(missing_ok=True)


def _digest(version: str, rows: Sequence[torch.Tensor]) -> str:
    digest = hashlib.sha256(version.encode())
    for each in rows:
        digest.update(each.view(torch.uint8).numpy().data)
    return digest.hexdigest()
