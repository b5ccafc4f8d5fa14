"""Index of known facts, for the comparison of statements with them. Pure."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from agent.entities import Fact
from agent.extraction.candidate import Candidate
from agent.extraction.english.normalize import normalized_words
from agent.extraction.english.tokens import content_words
from agent.text import same_as

MEANINGLESS = re.compile(r"[\w\s.,;:!?'\"\u2019\u2026]")


class KnownFacts:
    """Active facts of one scope by text, by subject and attribute, and by what they deny."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts: dict[str, Fact] = {}
        self._digests: dict[str, Fact] = {}
        self._statements: dict[tuple[str, str], Fact] = {}
        self._attributes: dict[tuple[str, str | None], Fact] = {}
        self._denials: defaultdict[tuple[str, str], dict[str, Fact]] = defaultdict(dict)
        for fact in facts:
            self.add(fact)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts.values())

    def add(self, fact: Fact) -> None:
        """Add a fact."""
        self._facts[fact.id] = fact
        self._digests[same_as(fact.text)] = fact
        self._statements[statement(fact.text)] = fact
        if fact.attribute is not None:
            self._attributes[fact.subject, fact.attribute] = fact
        if fact.denies is not None:
            self._denials[fact.subject, fact.denies.attribute][fact.id] = fact

    def remove(self, fact_id: str) -> None:
        """Remove a fact."""
        fact = self._facts.pop(fact_id)
        self._digests.pop(same_as(fact.text), None)
        self._statements.pop(statement(fact.text), None)
        if fact.attribute is not None:
            self._attributes.pop((fact.subject, fact.attribute), None)
        if fact.denies is not None:
            del self._denials[fact.subject, fact.denies.attribute][fact_id]

    def same(self, candidate: Candidate) -> Fact | None:
        """The fact that says the same, but for case, punctuation and words without weight."""
        found = self._digests.get(same_as(candidate.text))
        return found or self._statements.get(statement(candidate.text))

    def rival(self, candidate: Candidate) -> Fact | None:
        """The fact with the attribute of the same subject that the candidate gives a value."""
        if candidate.attribute is None:
            return None
        return self._attributes.get((candidate.subject, candidate.attribute))

    def denials(self, candidate: Candidate) -> list[Fact]:
        """The facts that say that the value now stated is not the attribute's."""
        value = content_words(candidate.value)
        if candidate.attribute is None or candidate.denied or not value:
            return []
        denials = self._denials.get((candidate.subject, candidate.attribute), {}).values()
        return [f for f in denials if f.denies and content_words(f.denies.value) <= value]


def statement(text: str) -> tuple[str, str]:
    """The comparable form of a text: its words in order, and the symbols, as C is not C++."""
    plain = unicodedata.normalize("NFKC", text)
    return " ".join(normalized_words(plain)), MEANINGLESS.sub("", plain)
