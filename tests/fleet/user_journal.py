"""Journal of one scenario's users, and the counts made of it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.figures import distribution
from app.public_errors import FAILED

# What a client sees of an app process that is killed: no answer at all.
NO_ANSWER = "no answer: the connection broke"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that a user saw. `status` is 0 where no answer came, or in a stream."""

    status: int
    message: str

    @property
    def clear(self) -> bool:
        """True if the error was raised on purpose, in words for the user."""
        return bool(self.message.strip()) and self.message not in (FAILED, NO_ANSWER)


@dataclass
class Journal:
    """Journal filled by users, then compared with the fleet's memory.

    `turns` and `facts` are what was acknowledged, by user: messages and whole replies, and
    the word of each fact. `foreign` and `wrong` are memories served to the wrong user, and
    replies that differ from those that the same facts give as text, of those `compared`.
    """

    messages: int = 0
    injected: int = 0
    compared: int = 0
    turns: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, list[str]] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    ttft_ms: list[float] = field(default_factory=list)
    lost_turns: list[str] = field(default_factory=list)
    lost_facts: list[str] = field(default_factory=list)

    def compare_turns(self, stored: Mapping[str, Collection[str]]) -> None:
        """Note the acknowledged turns that are not among the stored ones, by user."""
        self.lost_turns += _missing(self.turns, stored)

    def compare_facts(self, known: Mapping[str, Iterable[str]]) -> None:
        """Note the acknowledged facts whose word is in no known fact, or in two."""
        for user, words in self.facts.items():
            counted = Counter(re.findall(r"\w+", " ".join(known.get(user, ()))))
            self.lost_facts += [f"{user}: {word}" for word in words if counted[word] == 0]
            self.wrong += [f"{user}: {word} twice" for word in words if counted[word] > 1]

    def counts(self, *, breaks: bool = False) -> dict[str, int]:
        """Count the faults that must be 0. With `breaks`, users may see connections that break."""
        unclear = [f for f in self.failures if not f.clear]
        if breaks:
            unclear = [f for f in unclear if f.message != NO_ANSWER]
        return {
            "turns_lost": len(self.lost_turns),
            "facts_lost": len(self.lost_facts),
            "foreign": len(self.foreign),
            "wrong": len(self.wrong),
            "unclear_errors": len(unclear),
        }

    def grouped(self) -> list[dict[str, Any]]:
        """The errors that users saw, most frequent first; numbers in them are left out."""
        groups = Counter((f.status, re.sub(r"\d+", "N", f.message)) for f in self.failures)
        return [
            {"status": status, "message": message, "n": n}
            for (status, message), n in groups.most_common()
        ]

    def as_json(self, *, breaks: bool = False) -> dict[str, Any]:
        """Plain values; times are milliseconds."""
        return {
            "users": len(self.turns.keys() | self.facts.keys()),
            "messages": self.messages,
            "turns": sum(map(len, self.turns.values())),
            "facts": sum(map(len, self.facts.values())),
            "injected": self.injected,
            "compared": self.compared,
            "ttft_ms": distribution(self.ttft_ms) if self.ttft_ms else None,
            "counts": self.counts(breaks=breaks),
            "errors": self.grouped(),
        }


def _missing(
    acknowledged: Mapping[str, Iterable[str]], stored: Mapping[str, Collection[str]]
) -> list[str]:
    missing = []
    for user, said in acknowledged.items():
        left = Counter(said) - Counter(stored.get(user, ()))
        missing += [f"{user}: {text[:80]}" for text in left.elements()]
    return missing
