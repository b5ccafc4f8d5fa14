"""The evaluation on an engine whose likelihoods are known."""

import math

import pytest

from app.composition import silent
from benchmarks.quality.arms.cases import ConversationCases
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.fidelity import judged, measure_fidelity
from memory_engine.errors import EngineError, SettingsError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import Mode
from tests.benchmarks.quality.fake_likelihood_engine import FakeLikelihoodEngine


async def started(*, max_model_len: int = 4096, loses: bool = False) -> FakeLikelihoodEngine:
    engine = FakeLikelihoodEngine(max_model_len=max_model_len, loses=loses)
    await engine.start()
    return engine


async def test_a_row_has_the_losses_and_what_is_retained(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = await started()
    (row,) = await measure_fidelity(engine, tokenizer, conversations, [Setup(k=4)], 0, silent)
    assert row["questions"] == 4
    assert row["nll"] == {"none": 3.0, "text": 1.0, "kv": 1.5, "reordered": 1.0, "relevance": 1.0}
    assert row["retained"]["kv"] == {"value": 0.75, "low": 0.75, "high": 0.75}
    assert row["retained"]["reordered"]["value"] == 1.0
    assert row["agreement"]["kv"]["value"] == 1.0
    nothing = {"value": 0.0, "low": 0.0, "high": 0.0}
    for figure in ("agreement_over", "forced_agreement_over"):
        assert row[figure] == {"reordered": nothing, "relevance": nothing}
    assert row["kl"]["reordered"]["mean"] == 0.0
    p, q = math.exp(-1.0), math.exp(-1.5)
    expected = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    assert row["kl"]["kv"]["mean"] == pytest.approx(expected, abs=1e-3)
    assert set(row["categories"]) == {"multi-hop", "temporal"}


async def test_text_and_kv_send_the_same_ids_and_no_salt_is_shared(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = await started()
    await measure_fidelity(engine, tokenizer, conversations[:1], [Setup(k=4)], 0, silent)
    replies = [each for each in engine.asked if not each[2].allowed_tokens]
    by_mode = {
        mode: {tuple(prompt.token_ids) for m, prompt, _ in replies if m is mode} for mode in Mode
    }
    assert by_mode[Mode.KV] < by_mode[Mode.TEXT]
    # For each of two questions: none, text, reordered, by relevance; and KV.
    assert len(by_mode[Mode.TEXT]) == 8
    assert len({sampling.cache_salt for _, _, sampling in replies}) == len(replies) == 10


async def test_every_token_of_the_answer_is_forced_behind_those_before_it(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = await started()
    await measure_fidelity(engine, tokenizer, conversations[:1], [Setup(k=4)], 0, silent)
    case = conversations[0].cases[1]
    answer = tokenizer.encode(case.question.answer)
    forced = [each for each in engine.asked if each[2].allowed_tokens and each[0] is Mode.KV]
    of_it = [(prompt, s) for _, prompt, s in forced if s.cache_salt == forced[-1][2].cache_salt]
    assert [s.allowed_tokens for _, s in of_it] == [(token,) for token in answer]
    front = of_it[0][0].token_ids
    for place, (prompt, _) in enumerate(of_it):
        assert prompt.token_ids == [*front, *answer[:place]]


async def test_what_does_not_depend_on_the_window_is_asked_once(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = await started()
    setups = [Setup(4), Setup(4, window="none"), Setup(4, order="relevance"), Setup(4, tail=0)]
    rows = await measure_fidelity(engine, tokenizer, conversations, setups, 0, silent)
    assert [row["window"] for row in rows] == ["facts:8", "none", "facts:8", "facts:8"]
    replies = [mode for mode, _, sampling in engine.asked if not sampling.allowed_tokens]
    # Four questions: without facts, and in two orders with a tail and without one.
    assert replies.count(Mode.TEXT) == 4 * (1 + 2 + 2)
    assert replies.count(Mode.KV) == 4 * len(setups)


async def test_nothing_is_left_in_the_arena(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = await started()
    await measure_fidelity(engine, tokenizer, conversations, [Setup(k=4)], 0, silent)
    assert (await engine.arena()).segments == 0


async def test_kv_that_was_not_injected_fails_the_evaluation(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = await started(loses=True)
    with pytest.raises(EngineError, match="tokens were to be injected, and were not"):
        await measure_fidelity(engine, tokenizer, conversations, [Setup(k=4)], 0, silent)


async def test_facts_that_do_not_fit_are_not_left_out_silently(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = await started(max_model_len=120)
    with pytest.raises(SettingsError, match="4 facts do not fit 120 tokens"):
        await measure_fidelity(engine, tokenizer, conversations, [Setup(k=4)], 0, silent)


async def test_only_default_settings_are_aimed_at(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = await started()
    setups = [Setup(4), Setup(4, window="none")]
    rows = await measure_fidelity(engine, tokenizer, conversations, setups, 0, silent)
    aims = judged(rows)
    assert [aim["measured"] for aim in aims] == [0.75, 0.75, 0.0]
    assert [aim["reached"] for aim in aims] == [False, False, True]
