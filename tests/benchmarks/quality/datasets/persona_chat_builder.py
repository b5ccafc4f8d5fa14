"""Dialogues in the shape of Synthetic-Persona-Chat, made up."""

import csv
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.datasets.persona_chat import CONVERSATION, PERSONAS

Row = tuple[Sequence[str], Sequence[str], Sequence[str]]


def write_dialogues(folder: Path, rows: Sequence[Row]) -> Path:
    """A CSV file of dialogues, each two personas and turns of the two people in turn."""
    path = folder / "dialogues.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*PERSONAS, CONVERSATION])
        for one, two, turns in rows:
            said = (f"User {n % 2 + 1}: {turn}" for n, turn in enumerate(turns))
            writer.writerow(["\n".join(one), "\n".join(two), "\n".join(said)])
    return path
