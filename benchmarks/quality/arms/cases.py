"""Cases: questions whose evidence is known, and the facts that each is asked with."""

import random
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from benchmarks.quality.datasets.locomo import ADVERSARIAL, LocomoConversation, LocomoQuestion
from memory_engine.retrieval.embedder import Embedder
from memory_engine.types import MemoryFact, Recalled


@dataclass(frozen=True, slots=True)
class Case:
    """A question, all facts of its conversation best first, and the ids of its evidence."""

    question: LocomoQuestion
    ranked: tuple[Recalled, ...]
    evidence: frozenset[str]

    def recalled(self, k: int) -> list[Recalled]:
        """Choose `k` facts, best first: the evidence, and of the others the most relevant."""
        others = [r for r in self.ranked if r.fact.id not in self.evidence]
        chosen = {r.fact.id for r in others[: k - len(self.evidence)]} | self.evidence
        return [r for r in self.ranked if r.fact.id in chosen]


@dataclass(frozen=True, slots=True)
class ConversationCases:
    """One conversation's facts in time order, and the questions to ask about them."""

    id: str
    facts: tuple[MemoryFact, ...]
    cases: tuple[Case, ...]


def facts_of(conversation: LocomoConversation) -> tuple[MemoryFact, ...]:
    """Turn a conversation's observations into facts, in time order."""
    return tuple(
        MemoryFact(f"{conversation.id}-{number}", each.text, each.said_at.date())
        for number, each in enumerate(conversation.observations)
    )


def evidence_of(conversation: LocomoConversation, question: LocomoQuestion) -> frozenset[str]:
    """Find the ids of facts made from turns that are evidence; none unless all turns have one."""
    wanted = set(question.evidence)
    covered = {turn for each in conversation.observations for turn in each.dia_ids}
    if not wanted <= covered:
        return frozenset()
    return frozenset(
        fact.id
        for fact, each in zip(facts_of(conversation), conversation.observations, strict=True)
        if wanted & set(each.dia_ids)
    )


def sample(
    conversations: Sequence[LocomoConversation],
    wrong: Set[str],
    most_evidence: int,
    limit: int,
    seed: int,
) -> list[tuple[LocomoConversation, list[LocomoQuestion]]]:
    """Draw up to `limit` questions at random, by conversation; `wrong` has ids to leave out.

    Only questions that have an answer and whose evidence is between 1 and `most_evidence`
    facts. The same seed gives the same questions, and a smaller limit a part of them.
    """
    askable = [
        (conversation, question)
        for conversation in conversations
        for question in conversation.questions
        if question.category != ADVERSARIAL
        and question.answer
        and question.id not in wrong
        and 0 < len(evidence_of(conversation, question)) <= most_evidence
    ]
    random.Random(seed).shuffle(askable)
    chosen = {question.id for _, question in askable[:limit]}
    grouped = [(c, [q for q in c.questions if q.id in chosen]) for c in conversations]
    return [(conversation, questions) for conversation, questions in grouped if questions]


async def prepare(
    conversation: LocomoConversation, questions: Sequence[LocomoQuestion], embedder: Embedder
) -> ConversationCases:
    """Rank all facts for every question, by cosine similarity."""
    facts = facts_of(conversation)
    vectors = await embedder.embed([fact.text for fact in facts])
    asked = await embedder.embed([question.text for question in questions])
    cases = []
    for question, scores in zip(questions, asked @ vectors.T, strict=True):
        best = np.argsort(-scores, kind="stable").tolist()
        ranked = tuple(Recalled(facts[place], float(scores[place])) for place in best)
        cases.append(Case(question, ranked, evidence_of(conversation, question)))
    return ConversationCases(conversation.id, facts, tuple(cases))
