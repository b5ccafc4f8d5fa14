"""Evidence tasks: facts, questions and evidence of a conversation, and recall of evidence."""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from benchmarks.quality.datasets.locomo import (
    ADVERSARIAL,
    CATEGORIES,
    LocomoConversation,
    LocomoQuestion,
)
from benchmarks.quality.intervals import Estimate, mean_of
from memory_engine.types import MemoryFact


@dataclass(frozen=True, slots=True)
class EvidenceTask:
    """A conversation as a memory sees it: its observations are facts, in time order.

    `turns_of` has the turns that each fact covers, by fact id. `questions` have evidence that
    facts cover; evidence that no fact covers cannot be found, and is left out. They are asked
    at `asked_at`, when the last session takes place.
    """

    owner: str
    facts: tuple[MemoryFact, ...]
    turns_of: Mapping[str, Collection[str]]
    questions: tuple[LocomoQuestion, ...]
    evidence: Mapping[str, Collection[str]]
    asked_at: datetime


def evidence_task(conversation: LocomoConversation) -> EvidenceTask:
    """Make the task of one conversation."""
    place = {turn.dia_id: number for number, turn in enumerate(conversation.turns)}
    texts = {turn.dia_id: turn.text for turn in conversation.turns}
    said = [o for o in conversation.observations if any(d in place for d in o.dia_ids)]
    said.sort(key=lambda o: min(place[d] for d in o.dia_ids if d in place))
    facts = tuple(
        MemoryFact(
            id=f"{conversation.id}-{number}",
            text=o.text,
            when=o.said_at.date(),
            source=" ".join(texts[d] for d in o.dia_ids if d in texts),
        )
        for number, o in enumerate(said)
    )
    turns_of = {f.id: frozenset(o.dia_ids) for f, o in zip(facts, said, strict=True)}
    covered = frozenset[str]().union(*turns_of.values())
    evidence = {q.id: covered.intersection(q.evidence) for q in conversation.questions}
    return EvidenceTask(
        owner=conversation.id,
        facts=facts,
        turns_of=turns_of,
        questions=tuple(q for q in conversation.questions if evidence[q.id]),
        evidence=evidence,
        asked_at=conversation.turns[-1].said_at.replace(tzinfo=UTC),
    )


def sampled(tasks: Sequence[EvidenceTask], limit: int, seed: int) -> list[EvidenceTask]:
    """Keep up to `limit` of the tasks' questions, at random, none of them adversarial.

    The same seed gives the same questions, and a smaller limit a part of them.
    """
    askable = [q.id for task in tasks for q in task.questions if q.category != ADVERSARIAL]
    random.Random(seed).shuffle(askable)
    chosen = set(askable[:limit])
    return [
        replace(task, questions=tuple(q for q in task.questions if q.id in chosen))
        for task in tasks
    ]


def summary(
    tasks: Iterable[EvidenceTask],
    found: Mapping[str, Sequence[str]],
    cutoffs: Sequence[int],
    seed: int,
) -> dict[str, Any]:
    """Summarise recall of evidence, overall and by category.

    found: ids of facts, best first, by question id. Overall is without adversarial questions,
    whose evidence speaks of somebody else.
    """
    rows = [
        (q.category, [_share(task, q, found[q.id][:k]) for k in cutoffs])
        for task in tasks
        for q in task.questions
    ]
    report: dict[str, Any] = {
        "overall": _figures([r for c, r in rows if c != ADVERSARIAL], cutoffs, seed)
    }
    report["by_category"] = {
        name: _figures(some, cutoffs, seed)
        for category, name in CATEGORIES.items()
        if (some := [r for c, r in rows if c == category])
    }
    return report


def _share(task: EvidenceTask, question: LocomoQuestion, fact_ids: Sequence[str]) -> float:
    """The share of a question's evidence that these facts cover."""
    evidence = task.evidence[question.id]
    covered = {turn for fact_id in fact_ids for turn in task.turns_of[fact_id]}
    return len(covered.intersection(evidence)) / len(evidence)


def _figures(
    rows: Sequence[Sequence[float]], cutoffs: Sequence[int], seed: int
) -> dict[str, object]:
    recall: dict[str, Estimate] = {}
    complete: dict[str, Estimate] = {}
    for place, k in enumerate(cutoffs):
        shares = [row[place] for row in rows]
        recall[str(k)] = mean_of(shares, seed)
        complete[str(k)] = mean_of([float(share == 1) for share in shares], seed)
    return {"n": len(rows), "recall": recall, "all_evidence": complete}
