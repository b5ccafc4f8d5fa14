"""Windows and segment ids: exactly the facts whose window changes get another id."""

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_engine.encoding.windows import FactSegment, Segmenter, Window
from memory_engine.engines.base import EncodeJob
from memory_engine.errors import SettingsError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import MemoryFact, Scope

FIRST = date(2026, 1, 1)


@pytest.fixture(scope="module")
def tokenizer(bundled_llm: Path) -> ChatTokenizer:
    return ChatTokenizer(bundled_llm)


def person(count: int) -> list[MemoryFact]:
    return [
        MemoryFact(f"f{i}", f"I have {i} cats.", FIRST + timedelta(days=i)) for i in range(count)
    ]


def ids(encoder: Segmenter, facts: list[MemoryFact], owner: str = "anna") -> dict[str, str]:
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
    encoder = Segmenter(tokenizer, Window("facts", 3), "model", [1, 2])
    facts = person(200)
    known = encoder.segments("anna", facts)
    for gone in (0, 7, 40, 101):
        line = known[f"f{gone}"].token_ids
        behind = {i for i, s in known.items() if _holds(s.context, line)}
        before, after = ids(encoder, facts), ids(encoder, facts[:gone] + facts[gone + 1 :])
        changed = {i for i in after if after[i] != before[i]}
        assert behind <= changed
        # Runs after it may be cut elsewhere, until a fact that begins one by itself.
        assert len(changed) < 120
        assert all(int(i[1:]) > gone for i in changed)


def jobs_of(encoder: Segmenter, segments: Iterable[FactSegment]) -> list[EncodeJob]:
    return [encoder.job("anna", run) for run in encoder.runs(segments)]


def _holds(context: tuple[int, ...], line: tuple[int, ...]) -> bool:
    return any(context[i : i + len(line)] == line for i in range(len(context)))


def test_every_fact_has_its_window_before_it_and_no_prefill_is_long(
    tokenizer: ChatTokenizer,
) -> None:
    encoder = Segmenter(tokenizer, Window("facts", 8), "model", [1, 2])
    facts = person(300)
    segments = list(encoder.segments("anna", facts).values())
    lines = [segment.token_ids for segment in segments]
    for index, segment in enumerate(segments):
        window = [i for line in lines[max(0, index - 8) : index] for i in line]
        assert list(segment.context[len(segment.context) - len(window) :]) == window
    jobs = jobs_of(encoder, segments)
    assert sum(len(job.spans) - 1 for job in jobs) == 300
    assert max(len(job.spans) for job in jobs) <= 17
    prefilled, own = sum(len(job.token_ids) for job in jobs), sum(map(len, lines))
    assert prefilled < 2 * own


def test_adding_a_fact_changes_no_other_segment(tokenizer: ChatTokenizer) -> None:
    encoder = Segmenter(tokenizer, Window("facts", 3), "model", [1, 2])
    for count in range(60):
        before, after = ids(encoder, person(count)), ids(encoder, person(count + 1))
        assert {i: after[i] for i in before} == before


def test_without_a_window_a_segment_depends_on_its_own_tokens_alone(
    tokenizer: ChatTokenizer,
) -> None:
    encoder = Segmenter(tokenizer, Window("none"), "model", [1, 2])
    facts = person(4)
    assert ids(encoder, facts[::-1]) == ids(encoder, facts)


def test_a_window_of_turns_is_what_was_said_before_the_fact(tokenizer: ChatTokenizer) -> None:
    encoder = Segmenter(tokenizer, Window("turns", 2), "model", [1, 2])
    fact = MemoryFact("f", "I like tea.", turns=("Hi.", "What do you drink?", "Guess."))
    segment = encoder.segments("anna", [fact])["f"]
    assert tokenizer.decode(list(segment.context)) == "- What do you drink?\n- Guess.\n"


def test_owner_model_and_prefix_are_part_of_the_id(tokenizer: ChatTokenizer) -> None:
    facts = person(1)
    encoders = [
        Segmenter(tokenizer, Window("none"), model, prefix)
        for model, prefix in (("a", [1]), ("b", [1]), ("a", [2]))
    ]
    found = {ids(e, facts)["f0"] for e in encoders} | {ids(encoders[0], facts, "ben")["f0"]}
    assert len(found) == 4


def test_a_job_keeps_every_facts_own_tokens_and_the_prefix(tokenizer: ChatTokenizer) -> None:
    encoder = Segmenter(tokenizer, Window("facts", 2), "model", [1, 2])
    segments = encoder.segments("anna", person(40))
    by_id = {segment.segment_id: segment for segment in segments.values()}
    for job in jobs_of(encoder, segments.values()):
        prefix, *spans = job.spans
        assert job.token_ids[: prefix.length] == [1, 2]
        for span in spans:
            segment = by_id[span.segment_id]
            own = job.token_ids[span.start : span.end]
            assert tuple(own) == segment.token_ids
            assert tuple(job.token_ids[2 : span.start]) == segment.context
        assert spans[-1].end == len(job.token_ids)


def test_a_fact_lost_alone_is_encoded_behind_the_same_context(tokenizer: ChatTokenizer) -> None:
    encoder = Segmenter(tokenizer, Window("facts", 4), "model", [1, 2])
    segment = encoder.segments("anna", person(12))["f10"]
    (job,) = jobs_of(encoder, [segment])
    assert job.token_ids == [1, 2, *segment.context, *segment.token_ids]


def test_a_run_in_parts_keeps_the_same_segments(tokenizer: ChatTokenizer) -> None:
    encoder = Segmenter(tokenizer, Window("facts", 4), "model", [1, 2])
    for run in encoder.runs(encoder.segments("anna", person(40)).values()):
        whole = encoder.job("anna", run)
        for first in range(0, len(run), 3):
            part = encoder.job("anna", run[first : first + 3])
            assert part.token_ids == whole.token_ids[: len(part.token_ids)]
            assert set(part.spans) <= set(whole.spans)


def test_what_a_segment_is_encoded_behind_can_be_computed_little_by_little(
    tokenizer: ChatTokenizer,
) -> None:
    encoder = Segmenter(tokenizer, Window.parse("facts:8"), "print", range(5))
    last = list(encoder.segments("anna", person(9)).values())[-1]
    whole = encoder.job("anna", [last]).token_ids
    parts = list(encoder.lead_in("anna", last, 10))
    assert [len(part.token_ids) for part in parts] == list(range(10, 5 + len(last.context), 10))
    for part in parts:
        assert part.token_ids == whole[: len(part.token_ids)]
        assert [(span.segment_id, span.length) for span in part.spans] == [
            (encoder.prefix_id("anna"), 5)
        ]
    # Nothing that ends within the prefix, which is kept whole, and nothing without a context.
    assert len(next(encoder.lead_in("anna", last, 4)).token_ids) == 8
    assert not list(encoder.lead_in("anna", last, 5 + len(last.context)))


def test_a_window_holds_facts_of_its_own_scope_only(tokenizer: ChatTokenizer) -> None:
    encoder = Segmenter(tokenizer, Window("facts", 3), "model", [1, 2])
    open_ = person(30)
    secret = [MemoryFact(f"s{i}", f"I hide {i} coins.", scope=Scope(None, "7")) for i in range(30)]
    mixed = [fact for pair in zip(open_, secret, strict=True) for fact in pair]
    segments = encoder.segments("anna", mixed)
    assert list(segments) == [fact.id for fact in mixed]
    alone = encoder.segments("anna", open_) | encoder.segments("anna", secret)
    assert {i: s.segment_id for i, s in segments.items()} == {
        i: s.segment_id for i, s in alone.items()
    }
    for job in jobs_of(encoder, segments.values()):
        ids = {i for i, s in segments.items() if s.segment_id in {p.segment_id for p in job.spans}}
        assert len({i[0] for i in ids}) == 1
