"""The choice of questions, and of the facts that each is asked with."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from benchmarks.quality.arms.cases import evidence_of, facts_of, prepare, sample
from benchmarks.quality.datasets.locomo import LocomoConversation, load
from memory_engine.retrieval.embedder import Embedder
from tests.benchmarks.quality.datasets.locomo_builder import RECORD, written


@pytest.fixture
def conversation(tmp_path: Path) -> LocomoConversation:
    (conversation,) = load(written(tmp_path))
    return conversation


@pytest.fixture(scope="module")
def embedder(bundled_embedder: Path) -> Iterator[Embedder]:
    embedder = Embedder(bundled_embedder)
    yield embedder
    embedder.close()


def test_observations_are_facts_with_their_sessions_day(conversation: LocomoConversation) -> None:
    facts = facts_of(conversation)
    assert [fact.id for fact in facts] == ["conv-1-0", "conv-1-1", "conv-1-2", "conv-1-3"]
    assert [fact.when for fact in facts] == [date(2024, 2, 29)] * 2 + [date(2024, 6, 2)] * 2
    assert facts[0].text == "Vera has a new bike."


def test_evidence_is_every_fact_of_a_turn_that_is_evidence(
    conversation: LocomoConversation,
) -> None:
    assert evidence_of(conversation, conversation.questions[0]) == {"conv-1-3"}
    assert evidence_of(conversation, conversation.questions[1]) == {
        "conv-1-0",
        "conv-1-2",
        "conv-1-3",
    }


def test_a_question_is_left_out_if_a_turn_of_its_evidence_has_no_fact(tmp_path: Path) -> None:
    record = json.loads(json.dumps(RECORD))
    record["observation"]["session_2_observation"] = {}
    (conversation,) = load(written(tmp_path, record))
    assert evidence_of(conversation, conversation.questions[1]) == frozenset()


def asked(conversations: list[LocomoConversation], limit: int, seed: int = 0) -> list[str]:
    chosen = sample(conversations, {"locomo_0_qa3"}, 10, limit, seed)
    return [question.id for _, questions in chosen for question in questions]


def test_adversarial_wrong_and_unsupported_questions_are_left_out(
    conversation: LocomoConversation,
) -> None:
    assert asked([conversation], 10) == ["locomo_0_qa0", "locomo_0_qa1"]


def test_more_evidence_than_facts_are_served_leaves_a_question_out(
    conversation: LocomoConversation,
) -> None:
    ((_, questions),) = sample([conversation], set(), 2, 10, 0)
    assert [question.id for question in questions] == ["locomo_0_qa0", "locomo_0_qa3"]


def test_a_smaller_limit_asks_a_part_of_the_same_questions(tmp_path: Path) -> None:
    many = load(written(tmp_path, *[RECORD | {"sample_id": f"conv-{n}"} for n in range(9)]))
    small, large = asked(many, 4), asked(many, 9)
    assert len(small) == 4
    assert set(small) < set(large)
    assert asked(many, 4) == small
    assert asked(many, 4, seed=1) != small


async def test_evidence_is_always_among_the_facts_best_first(
    conversation: LocomoConversation, embedder: Embedder
) -> None:
    prepared = await prepare(conversation, conversation.questions[:2], embedder)
    about_bike = prepared.cases[1]
    assert {r.fact.id for r in about_bike.recalled(3)} == about_bike.evidence
    sold = prepared.cases[0]
    assert "conv-1-3" in {r.fact.id for r in sold.recalled(1)}
    ranked = sold.recalled(3)
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
    assert len(sold.recalled(9)) == 4
