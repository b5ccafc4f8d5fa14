"""Prompts and runs of facts: exact lengths, and nothing in common that must not be."""

from itertools import combinations

from benchmarks.speed.prompt_material import PromptMaterial, random_tokens
from benchmarks.speed.workload import PREFIX_TOKENS, QUESTION_TOKENS


def material(facts: int = 3, fact_tokens: int = 5) -> PromptMaterial:
    return PromptMaterial.cut_from(random_tokens(5000, 4000), facts, fact_tokens)


def test_every_fact_has_exactly_the_tokens_asked_for() -> None:
    cut = material()
    assert [len(fact) for fact in cut.facts] == [5, 5, 5]
    assert len(cut.prefix) == PREFIX_TOKENS
    assert len(cut.question) == QUESTION_TOKENS


def test_a_prompt_is_prefix_facts_question_and_its_spans_cover_the_first_two() -> None:
    cut = material()
    prompt = cut.prompt(range(3))
    assert prompt.token_ids == cut.prefix + sum(cut.facts, []) + cut.question  # noqa: RUF017
    ends = [span.end for span in prompt.spans]
    assert [span.start for span in prompt.spans] == [0, *ends[:-1]]
    assert ends[-1] == len(prompt.token_ids) - QUESTION_TOKENS


def test_requests_under_load_share_no_fact_prefix() -> None:
    prompts, first_fact = material(facts=20).prompts(20, k=7), PREFIX_TOKENS + 5
    for one, other in combinations(prompts, 2):
        assert one.spans[1].segment_id != other.spans[1].segment_id
        assert one.token_ids[:first_fact] != other.token_ids[:first_fact]
    assert all(len({span.segment_id for span in p.spans}) == 8 for p in prompts)


def test_more_requests_than_facts_still_differ() -> None:
    prompts = material(facts=20).prompts(100, k=7)
    assert len({tuple(prompt.token_ids) for prompt in prompts}) == 100
    assert len({len(prompt.token_ids) for prompt in prompts}) == 1


def test_requests_are_the_same_ones_every_time() -> None:
    assert material(20).prompts(5, 7) == material(20).prompts(5, 7)


def test_runs_keep_every_fact_once_behind_its_window() -> None:
    cut = material(facts=10)
    runs = cut.runs(window=2, size=4)
    kept = [span.segment_id for run in runs for span in run.spans[1:]]
    assert kept == [f"bench-fact-{number}" for number in range(10)]
    assert [len(run.token_ids) - PREFIX_TOKENS for run in runs] == [4 * 5, 6 * 5, 4 * 5]
    for run in runs:
        for span in run.spans[1:]:
            number = int(span.segment_id.rsplit("-", 1)[1])
            assert run.token_ids[span.start : span.end] == cut.facts[number]


def test_without_facts_the_prefix_alone_is_encoded() -> None:
    (run,) = PromptMaterial.cut_from(random_tokens(5000, 100), 0, 5).runs()
    assert [span.segment_id for span in run.spans] == ["bench-prefix"]


def test_another_owner_shares_tokens_and_no_segment() -> None:
    ours, theirs = material().prompt(range(3)), material().owned_by("other").prompt(range(3))
    assert ours.token_ids == theirs.token_ids
    assert not {s.segment_id for s in ours.spans} & {s.segment_id for s in theirs.spans}
