"""Recall and precision of an extractor on Synthetic-Persona-Chat."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.english.tokens import word_set
from agent.extraction.extractor import Extractor
from agent.extraction.grounding import ground
from benchmarks.quality.datasets.persona_chat import Dialogue, dialogues, first_person_statements
from memory_engine.errors import EngineError

SAID_AT = datetime(2026, 1, 15, 12, tzinfo=UTC)
WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
FUNCTION = word_set(
    """a an the i me my mine we us our you your he him his she her it its they them their this that
    these those am is are was were be been being do does did have has had will would can could not
    no and or but if so than too very really just also as at by for from in into of on to with
    about there what who which when where how all some any lot i'm i've i'd i'll it's that's
    don't like love"""
)
HALF = 0.5
POINTING = re.compile(r"\b(?:it|that|this|them|those|these|they|there|one|ones|he|she|him)\b", re.I)
EXAMPLES = 5


@dataclass
class _Tally:
    turns: int = 0
    failed_turns: int = 0
    facts: int = 0
    ungrounded: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    statements: int = 0
    found: int = 0
    missed: dict[str, list[str]] = field(default_factory=dict)
    persona: Counter[str] = field(default_factory=Counter)


async def measure_extraction(
    path: Path, extractor: Extractor, limit: int | None, seed: int
) -> dict[str, Any]:
    """Extract and ground every turn of `limit` dialogues (None: all) drawn with `seed`.

    path: a CSV file of Synthetic-Persona-Chat. Both speakers' turns are treated as a user's.
    Raises UserError for another file. The report's keys:

    - `dialogues`, `turns`, `failed_turns` (the extractor could not tell), `facts`: how many;
    - `grounded_precision`: the share of facts all of whose content words are in their turn
      (1.0 without facts), and `ungrounded`: the facts where they are not;
    - `recall`, `statements`, `found`: of the first-person statements (see
      `first_person_statements`) with a content word, those at least half of whose content
      words are in facts quoted from them;
    - `beside`, `beside_examples`: facts that come from no first-person statement;
    - `missed`, `missed_examples`: statements that were not found, by reason;
    - `persona_recall`, `persona_sentences`, `persona_found`, `persona_said`: of the sentences
      that describe a speaker, those at least half of whose content words are in one fact of
      the speaker's turns; `persona_said` are those for which one turn has them at all, so
      `persona_found / persona_said` is what extraction alone answers for.
    """
    chosen = await asyncio.to_thread(lambda: list(dialogues(path)))
    if limit is not None and limit < len(chosen):
        chosen = random.Random(seed).sample(chosen, limit)
    tally = _Tally()
    for dialogue in chosen:
        await _measure(dialogue, extractor, tally)
    return {"dialogues": len(chosen), **_report(tally)}


async def _measure(dialogue: Dialogue, extractor: Extractor, tally: _Tally) -> None:
    facts: tuple[list[str], list[str]] = ([], [])
    for speaker, text in dialogue.turns:
        tally.turns += 1
        turn = UserTurn(tally.turns, str(speaker), "1", text, SAID_AT)
        try:
            candidates = await extractor.extract(turn)
        except EngineError:
            tally.failed_turns += 1
            candidates = []
        kept = await asyncio.to_thread(ground, turn, candidates)
        facts[speaker].extend(c.text for c in kept)
        _count_facts(text, kept, tally)
        _count_statements(text, kept, tally)
    for speaker, sentences in enumerate(dialogue.personas):
        said = [content(text) for who, text in dialogue.turns if who == speaker]
        known = [content(text) for text in facts[speaker]]
        for sentence in sentences:
            wanted = content(sentence)
            tally.persona["sentences"] += 1
            tally.persona["said"] += any(_covers(words, wanted) for words in said)
            tally.persona["found"] += any(_covers(words, wanted) for words in known)


def _count_facts(turn: str, kept: Sequence[Candidate], tally: _Tally) -> None:
    spoken = content(turn)
    statements = first_person_statements(turn)
    for candidate in kept:
        tally.facts += 1
        if not content(candidate.text) <= spoken:
            tally.ungrounded.append(candidate.text)
        if not any(_within(candidate.quote, s) for s in statements):
            tally.beside.append(candidate.text)


def _count_statements(turn: str, kept: Sequence[Candidate], tally: _Tally) -> None:
    for statement in first_person_statements(turn):
        wanted = content(statement)
        if not wanted:
            continue
        quoted = [content(c.quote) for c in kept if _within(c.quote, statement)]
        tally.statements += 1
        if quoted and _covers(frozenset().union(*quoted), wanted):
            tally.found += 1
        else:
            tally.missed.setdefault(_reason(statement, bool(quoted)), []).append(statement)


def _reason(statement: str, partly: bool) -> str:
    if partly:
        return "found in part"
    if POINTING.search(statement):
        return "points to something said before"
    if len(content(statement)) < 2:
        return "one content word or none"
    return "other"


def content(text: str) -> frozenset[str]:
    """Reduce `text` to its content words, in lower case and without a plural or verbal s."""
    found = (w.casefold().replace("\u2019", "'") for w in WORD.findall(text))
    return frozenset(w.removesuffix("'s").removesuffix("s") for w in found if w not in FUNCTION)


def _within(quote: str, statement: str) -> bool:
    a, b = (" ".join(t.replace("\u2019", "'").casefold().split()) for t in (quote, statement))
    return a.rstrip(".!") in b or b.rstrip(".!") in a


def _covers(words: frozenset[str], wanted: frozenset[str]) -> bool:
    return len(words & wanted) >= HALF * len(wanted) if wanted else True


def _report(tally: _Tally) -> dict[str, Any]:
    persona = tally.persona
    return {
        "turns": tally.turns,
        "failed_turns": tally.failed_turns,
        "facts": tally.facts,
        "grounded_precision": _share(tally.facts - len(tally.ungrounded), tally.facts, 1.0),
        "ungrounded": tally.ungrounded,
        "recall": _share(tally.found, tally.statements),
        "statements": tally.statements,
        "found": tally.found,
        "beside": len(tally.beside),
        "beside_examples": tally.beside[:EXAMPLES],
        "missed": {why: len(those) for why, those in tally.missed.items()},
        "missed_examples": {why: those[:EXAMPLES] for why, those in tally.missed.items()},
        "persona_recall": _share(persona["found"], persona["sentences"]),
        "persona_sentences": persona["sentences"],
        "persona_found": persona["found"],
        "persona_said": persona["said"],
    }


def _share(part: int, whole: int, empty: float = 0.0) -> float:
    return part / whole if whole else empty
