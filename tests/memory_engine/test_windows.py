"""Windows and segment ids: exactly the facts whose window changes get another id."""

from datetime import date
from pathlib import Path

import pytest

from memory_engine.errors import SettingsError
from memory_engine.tokens import ChatTokenizer
from memory_engine.types import MemoryFact
from memory_engine.windows import Encoder, Window


@pytest.fixture(scope="module")
def tokenizer(bundled_llm: Path) -> ChatTokenizer:
    return ChatTokenizer(bundled_llm)


def person(count: int) -> list[MemoryFact]:
    return [MemoryFact(f"f{i}", f"I have {i} cats.", date(2026, 1, 1 + i)) for i in range(count)]


def ids(encoder: Encoder, facts: list[MemoryFact], owner: str = "anna") -> dict[str, str]:
    return {i: segment.segment_id for i, segment in encoder.segments(owner, facts).items()}


@pytest.mark.parametrize(("text", "kind", "size"), [("none", "none", 0), ("facts:8", "facts", 8)])
def test_a_policy_is_read(text: str, kind: str, size: int) -> None:
    assert Window.parse(text) == Window(kind, size)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "facts", "facts:0", "facts:-1", "none:3", "days:2"])
def test_a_wrong_policy_is_told_what_is_allowed(text: str) -> None:
    with pytest.raises(SettingsError, match="none, facts:N or turns:N"):
        Window.parse(text)


def test_forgetting_a_fact_changes_exactly_the_segments_encoded_behind_it(
    tokenizer: ChatTokenizer,
) -> None:
    encoder = Encoder(tokenizer, Window("facts", 3), "model", [1, 2])
    facts = person(10)
    before, after = ids(encoder, facts), ids(encoder, facts[:4] + facts[5:])
    assert {i for i in after if after[i] != before[i]} == {"f5", "f6", "f7"}


def test_adding_a_fact_changes_no_other_segment(tokenizer: ChatTokenizer) -> None:
    encoder = Encoder(tokenizer, Window("facts", 3), "model", [1, 2])
    before, after = ids(encoder, person(5)), ids(encoder, person(6))
    assert {i: after[i] for i in before} == before


def test_without_a_window_a_segment_depends_on_its_own_tokens_alone(
    tokenizer: ChatTokenizer,
) -> None:
    encoder = Encoder(tokenizer, Window("none"), "model", [1, 2])
    facts = person(4)
    assert ids(encoder, facts[::-1]) == ids(encoder, facts)


def test_a_window_of_turns_is_what_was_said_before_the_fact(tokenizer: ChatTokenizer) -> None:
    encoder = Encoder(tokenizer, Window("turns", 2), "model", [1, 2])
    fact = MemoryFact("f", "I like tea.", turns=("Hi.", "What do you drink?", "Guess."))
    segment = encoder.segments("anna", [fact])["f"]
    assert tokenizer.decode(list(segment.context)) == "- What do you drink?\n- Guess.\n"


def test_owner_model_and_prefix_are_part_of_the_id(tokenizer: ChatTokenizer) -> None:
    facts = person(1)
    encoders = [
        Encoder(tokenizer, Window("none"), model, prefix)
        for model, prefix in (("a", [1]), ("b", [1]), ("a", [2]))
    ]
    found = {ids(e, facts)["f0"] for e in encoders} | {ids(encoders[0], facts, "ben")["f0"]}
    assert len(found) == 4


def test_a_job_keeps_the_facts_own_tokens_and_the_prefix(tokenizer: ChatTokenizer) -> None:
    encoder = Encoder(tokenizer, Window("facts", 2), "model", [1, 2])
    segment = encoder.segments("anna", person(3))["f2"]
    job = encoder.job("anna", segment)
    prefix, own = job.spans
    assert job.token_ids[: prefix.length] == [1, 2]
    assert tuple(job.token_ids[own.start : own.start + own.length]) == segment.token_ids
    assert own.start + own.length == len(job.token_ids)
