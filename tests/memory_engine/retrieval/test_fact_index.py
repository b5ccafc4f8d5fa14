"""One owner's index: what is found, in which scope, and that removing removes."""

from datetime import date, timedelta

import numpy as np
import pytest

from memory_engine.retrieval.fact_index import FactIndex
from memory_engine.retrieval.fact_vectors import FactVectors
from memory_engine.retrieval.keyword_index import KeywordIndex
from memory_engine.retrieval.vector_index import VectorIndex
from memory_engine.types import MemoryFact, Period, Scope

DIMENSION = 8
FIRST = date(2026, 1, 1)
NOWHERE = np.zeros(DIMENSION, dtype=np.float32)


def axis(number: int) -> np.ndarray:
    unit = np.zeros(DIMENSION, dtype=np.float32)
    unit[number] = 1
    return unit


def fact(number: int, text: str = "", **more: object) -> MemoryFact:
    when = FIRST + timedelta(days=number)
    return MemoryFact(f"f{number}", text or f"thing{number}", when, **more)  # type: ignore[arg-type]


def vectors(number: int) -> FactVectors:
    return FactVectors(axis(number % DIMENSION))


def index_of(*facts: MemoryFact) -> FactIndex:
    fresh = {each.id: vectors(int(each.id[1:])) for each in facts}
    return FactIndex(DIMENSION).replaced(facts, fresh)


def found(
    index: FactIndex, question: str, vector: np.ndarray, k: int = 99, **more: object
) -> list[str]:
    return [r.fact.id for r in index.search(question, vector, k, **more)]  # type: ignore[arg-type]


def test_a_fact_is_found_by_its_vector() -> None:
    assert found(index_of(fact(0), fact(1), fact(2)), "?", axis(1), 1) == ["f1"]


def test_a_fact_is_found_by_a_word_in_another_form() -> None:
    index = index_of(fact(0, "I paint lakes."), fact(1, "I ski."), fact(2, "I cook."))
    assert found(index, "Who was painting?", NOWHERE, 1) == ["f0"]


def test_a_fact_is_found_by_the_turn_that_said_it() -> None:
    facts = [fact(0), fact(1), fact(2, source="My aunt brought it from Lisbon.")]
    said = FactVectors(axis(2), axis(7))
    index = FactIndex(DIMENSION).replaced(facts, {"f0": vectors(0), "f1": vectors(1), "f2": said})
    assert found(index, "?", axis(7), 1) == ["f2"]
    assert found(index, "lisbon", NOWHERE, 1) == ["f2"]


def test_a_fact_of_the_time_asked_for_comes_first() -> None:
    index = index_of(*(fact(n) for n in range(0, 60, 10)))
    day = FIRST + timedelta(days=30)
    assert found(index, "?", NOWHERE, 1, periods=[Period(day, day)]) == ["f30"]


def test_what_was_taken_out_is_found_by_nothing_and_leaves_no_vector() -> None:
    """seocho#122: what is only marked as deleted takes places among the best."""
    facts = [fact(n) for n in range(6)]
    index = index_of(*facts)
    left = index.replaced([facts[5], facts[0], facts[3]], {})
    assert len(left) == 3
    assert sorted(found(left, "thing1 thing2 thing4", axis(1))) == ["f0", "f3", "f5"]
    assert [found(left, "?", axis(n), 1) for n in (0, 3, 5)] == [["f0"], ["f3"], ["f5"]]
    assert np.array_equal(left._texts.vectors(), np.stack([axis(5), axis(0), axis(3)]))
    assert len(index) == 6


def test_a_fact_with_new_text_is_found_by_it_and_no_longer_by_the_old_one() -> None:
    index = index_of(fact(0, "I live in Bern."), fact(1, "I ski."), fact(2, "I cook."))
    moved = index.replaced([fact(0, "I live in Oslo."), fact(1), fact(2)], {"f0": vectors(6)})
    assert found(moved, "oslo", NOWHERE, 1) == ["f0"]
    assert found(moved, "?", axis(6), 1) == ["f0"]
    assert moved._words.scores("Bern").tolist() == [0, 0, 0]


def test_scopes_are_a_hard_filter_even_when_thousands_of_better_facts_are_hidden() -> None:
    """mem0#6998, #7416, #5453: filtered after the search, nothing is left."""
    mine = fact(2500, "thing of mine", scope=Scope("cook"))
    hidden = [fact(n, "thing", scope=Scope("coach")) for n in range(2500)]
    fresh = {f.id: FactVectors(axis(0)) for f in hidden} | {mine.id: FactVectors(axis(1))}
    index = FactIndex(DIMENSION).replaced([*hidden, mine], fresh)
    assert found(index, "thing", axis(0), 50, scope=Scope("cook")) == ["f2500"]
    assert found(index, "thing", axis(0), 50) == []


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        (Scope(), {"f0"}),
        (Scope("cook"), {"f0", "f1"}),
        (Scope(None, "7"), {"f0", "f2"}),
        (Scope("cook", "7"), {"f0", "f1", "f2", "f3"}),
        (Scope("coach", "8"), {"f0"}),
    ],
)
def test_a_fact_that_names_agent_or_conversation_is_seen_there_only(
    scope: Scope, seen: set[str]
) -> None:
    index = index_of(
        fact(0),
        fact(1, scope=Scope("cook")),
        fact(2, scope=Scope(None, "7")),
        fact(3, scope=Scope("cook", "7")),
    )
    assert set(found(index, "thing", axis(0), scope=scope)) == seen


def test_an_empty_index_and_questions_without_words_find_nothing_or_go_by_vectors() -> None:
    assert FactIndex(DIMENSION).search("What?", axis(0), 5) == []
    assert found(index_of(fact(0, "?!"), fact(1, "...")), "!?", axis(1), 1) == ["f1"]
    assert found(index_of(fact(0)), "thing0", axis(0), 0) == []


def test_similarity_is_exact_cosine_and_far_vectors_count_as_the_last_near_one() -> None:
    """mem0#5960: inner products of vectors that are not normalised."""
    rng = np.random.default_rng(0)
    made = rng.standard_normal((1500, 16)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    index, exact = VectorIndex(made), made @ made[7]
    got = index.similarities(made[7], np.arange(1500))
    near = exact >= np.sort(exact)[500]
    assert got[near] == pytest.approx(exact[near], abs=1e-5)
    assert got[~near] == pytest.approx(exact[near].min(), abs=1e-5)
    some = np.arange(5, 1500, 3)
    assert index.similarities(made[7], some) == pytest.approx(exact[some], abs=1e-5)


def test_a_rare_word_weighs_more_than_a_common_one_and_stop_words_nothing() -> None:
    index = KeywordIndex().replaced(
        ["a", "b", "c"], {"a": "the cat and Rex", "b": "the cat and dog", "c": "a cat and dog"}
    )
    scores = index.scores("cat Rex")
    assert scores[0] > scores[1] > 0
    assert index.scores("the and of").tolist() == [0, 0, 0]
