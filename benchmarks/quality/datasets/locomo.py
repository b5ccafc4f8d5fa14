"""Reader of LoCoMo: long conversations of two people, observations, and questions.

The file is a list of conversations as github.com/snap-research/locomo publishes it (Maharana
et al. 2024, arXiv 2402.17753). Its irregularities are dealt with here: answers that are
numbers, adversarial questions without an answer, dates of sessions that did not take place,
evidence that names no turn, several turns in one string, or a turn with leading zeros.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_engine.errors import SettingsError

MULTI_HOP, TEMPORAL, OPEN_DOMAIN, SINGLE_HOP, ADVERSARIAL = 1, 2, 3, 4, 5
CATEGORIES = {
    MULTI_HOP: "multi-hop",
    TEMPORAL: "temporal",
    OPEN_DOMAIN: "open-domain",
    SINGLE_HOP: "single-hop",
    ADVERSARIAL: "adversarial",
}
_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"(?<![\w:])D(\d+):(\d+)(?![\w:])")
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class LocomoTurn:
    """A turn without the pictures that were shared. `said_at` is the session's."""

    dia_id: str
    speaker: str
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Observation:
    """A sentence about `speaker` that turns support; generated, part of the data set."""

    speaker: str
    text: str
    dia_ids: tuple[str, ...]
    said_at: datetime


@dataclass(frozen=True, slots=True)
class LocomoQuestion:
    """A question with its gold answer; `evidence` has ids of existing turns only.

    id: `locomo_<number of the conversation>_qa<number of the question>`, both from 0.
    """

    id: str
    text: str
    answer: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocomoConversation:
    """All sessions of two people, in time order."""

    id: str
    speakers: tuple[str, str]
    turns: tuple[LocomoTurn, ...]
    observations: tuple[Observation, ...]
    questions: tuple[LocomoQuestion, ...]


def load(path: Path) -> list[LocomoConversation]:
    """Read every conversation in the file. Raises SettingsError if it holds none. Blocks."""
    records = _read(path)
    try:
        return [_conversation(number, record) for number, record in enumerate(records)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SettingsError(f"{path} is no file of LoCoMo conversations: {error!r}.") from error


def wrong_gold(path: Path) -> frozenset[str]:
    """Read ids of questions whose gold answer is known to be wrong: a JSON list. Blocks.

    Raises SettingsError for another file.
    """
    ids = _read(path)
    if not all(isinstance(each, str) for each in ids):
        raise SettingsError(f"{path} is no list of question ids such as locomo_0_qa2.")
    return frozenset(ids)


def _read(path: Path) -> list[Any]:
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise SettingsError(f"{path} is not JSON: {error}.") from error
    if not isinstance(records, list):
        raise SettingsError(f"{path} must hold a JSON list.")
    return records


def _conversation(number: int, record: dict[str, Any]) -> LocomoConversation:
    said = record["conversation"]
    turns: list[LocomoTurn] = []
    observations: list[Observation] = []
    for session in _sessions(said):
        name = f"session_{session}"
        said_at = datetime.strptime(said[f"{name}_date_time"], _DATE)
        turns += [_turn(turn, said_at) for turn in said[name]]
        by_speaker = record.get("observation", {}).get(f"{name}_observation", {})
        observations += _observations(by_speaker, said_at)
    known = {turn.dia_id for turn in turns}
    return LocomoConversation(
        id=record["sample_id"],
        speakers=(said["speaker_a"], said["speaker_b"]),
        turns=tuple(turns),
        observations=tuple(observations),
        questions=tuple(
            _question(f"locomo_{number}_qa{index}", qa, known)
            for index, qa in enumerate(record["qa"])
        ),
    )


def _sessions(said: dict[str, Any]) -> list[int]:
    """Numbers of the sessions that have turns; there are more dates than sessions."""
    found = ((_SESSION.fullmatch(key), value) for key, value in said.items())
    return sorted(int(match[1]) for match, value in found if match and isinstance(value, list))


def _turn(turn: dict[str, Any], said_at: datetime) -> LocomoTurn:
    return LocomoTurn(turn["dia_id"], turn["speaker"], turn["text"].strip(), said_at)


def _observations(
    by_speaker: dict[str, list[list[Any]]], said_at: datetime
) -> Iterator[Observation]:
    for speaker, sentences in by_speaker.items():
        for text, source in sentences:
            dia_ids = tuple(_turn_ids([source] if isinstance(source, str) else source))
            yield Observation(speaker, text.strip(), dia_ids, said_at)


def _question(question_id: str, qa: dict[str, Any], known: set[str]) -> LocomoQuestion:
    named = dict.fromkeys(_turn_ids(qa.get("evidence", [])))
    return LocomoQuestion(
        id=question_id,
        text=qa["question"].strip(),
        answer=str(qa.get("answer", "")).strip(),
        category=int(qa["category"]),
        evidence=tuple(dia_id for dia_id in named if dia_id in known),
    )


def _turn_ids(sources: list[str]) -> Iterator[str]:
    for source in sources:
        for match in _TURN_ID.finditer(source):
            yield f"D{int(match[1])}:{int(match[2])}"
