"""Reader of Synthetic-Persona-Chat, and its first-person statements.

Data: Jandaghi et al., Faithful Persona-based Conversational Dataset Generation (2312.10007).
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_engine.errors import UserError

PERSONAS = ("user 1 personas", "user 2 personas")
CONVERSATION = "Best Generated LocomoConversation"
TURN = re.compile(r"^User (?P<n>[12]): ?(?P<text>.*)$")
SENTENCE_END = re.compile(r"(?<=[.!?\u2026])[\"')\u201d\u2019]*\s+")
OPENING = re.compile(
    r"^(?:(?:hi|hello|hey|oh|ah|well|so|yes|yeah|yep|no|nope|ok|okay|wow|cool|nice|sure|thanks"
    r"|thank"
    r" you|actually|and|but|also|me too|same here|great|awesome)\b[\s,;:.!-]*)+",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(r"[\[(][^\])]*\b(?:name|user)[^\])]*[\])]|\buser \d", re.IGNORECASE)
FIRST_PERSON = re.compile(r"^(?:i|we|my|our)\b", re.IGNORECASE)
# Moods that state nothing, and talk about the talk itself.
NO_STATEMENT = re.compile(
    r"""^(?:i|we)\b['\u2019\s]*(?:
        (?:(?:really|just|also|definitely|totally|always|still|certainly|would|would've)\s+)*
        (?:d|ll|would|will|should|could|might|may|must|can\s+(?:imagine|see|understand|relate|tell)
        |hope|wish|guess|bet|think|thought|suppose|believe|agree|see|know|understand|get\s+(?:it
        |that)
        |mean|hear|heard|appreciate|wonder|promise|don['\u2019]?t\s+(?:know|think|mind|blame)
        |feel\s+the
        |have\s+to\s+(?:go|say|admit|agree)|never\s+thought|didn['\u2019]?t\s+know)\b
      | (?:m|am|re|are|was|were)\s+(?:(?:so|very|really|just|also|not|always|doing|feeling)\s+)*
        (?:sorry|glad|happy\s+(?:to|for|that|you)|sure|good\b|well\b|fine|great|okay|ok|doing
          |curious
        |excited\s+(?:for\s+you|to\s+(?:see|meet|hear|talk))|impressed|jealous|afraid\s+(?:not|so|i)
        |just\s+(?:kidding|saying)|pleased|honou?red|here\s+(?:to|for)|looking\s+forward)
    )""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue: the turns of two people, and sentences about each of them."""

    personas: tuple[tuple[str, ...], tuple[str, ...]]
    turns: tuple[tuple[int, str], ...]


def dialogues(path: Path) -> Iterator[Dialogue]:
    """Read the dialogues of a CSV file of the data set; speakers are 0 and 1.

    Raises UserError for a file that cannot be read or has other columns.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                one, other = (tuple(_lines(row[column])) for column in PERSONAS)
                yield Dialogue((one, other), tuple(_turns(row[CONVERSATION])))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    except (KeyError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no CSV file of Synthetic-Persona-Chat.") from error


def first_person_statements(turn: str) -> list[str]:
    """Find the sentences of `turn` whose subject is I, we, my or our and that state something.

    No questions, no greetings or thanks, no moods other than the indicative ("I would", "I
    hope"), no opinion about the talk itself ("I agree", "I'm glad to hear it"), no template
    that the data left unfilled ("I'm [User 1's name]"). The rule shares nothing with the
    extractors that are measured by it. Sentences that point to an earlier one ("I love it")
    count, although alone they say little.
    """
    plain = (OPENING.sub("", s.strip()) for s in SENTENCE_END.split(turn))
    return [
        s
        for s in plain
        if FIRST_PERSON.match(s)
        and not s.endswith("?")
        and not NO_STATEMENT.match(s)
        and not PLACEHOLDER.search(s)
    ]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _turns(conversation: str) -> Iterator[tuple[int, str]]:
    for line in conversation.splitlines():
        if found := TURN.match(line.strip()):
            yield int(found["n"]) - 1, found["text"].strip()
