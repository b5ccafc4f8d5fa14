"""F1 of the arms, on an engine whose replies are known."""

from app.composition import silent
from benchmarks.quality.answers import INSTRUCTION, REPLY_TOKENS, measure_answers
from benchmarks.quality.arms.cases import ConversationCases
from benchmarks.quality.arms.setups import Setup
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import Mode, Prompt
from tests.benchmarks.quality.fake_likelihood_engine import FakeLikelihoodEngine


async def test_right_replies_are_counted_by_arm_and_category(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    def reply(prompt: Prompt) -> str:
        asked = tokenizer.decode(prompt.token_ids)
        if not prompt.spans:
            return "nothing"
        return "2024" if "When did Olaf" in asked else "two goats, a car"

    engine = FakeLikelihoodEngine(reply)
    await engine.start()
    (row,) = await measure_answers(engine, tokenizer, conversations, [Setup(k=4)], 0, silent)
    assert row["questions"] == 4
    assert row["categories"]["temporal"]["f1"]["kv"]["value"] == 1.0
    # "a bike, two goats": one of the two is found.
    assert row["categories"]["multi-hop"]["f1"]["kv"]["value"] == 0.5
    assert row["f1"]["text"]["value"] == row["f1"]["kv"]["value"] == 0.75
    assert row["f1"]["none"]["value"] == 0.0
    assert row["kv_over_text"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert row["same_reply"] == 1.0


async def test_every_question_asks_for_a_short_answer(
    conversations: list[ConversationCases], tokenizer: ChatTokenizer
) -> None:
    engine = FakeLikelihoodEngine()
    await engine.start()
    await measure_answers(engine, tokenizer, conversations[:1], [Setup(k=4)], 0, silent)
    for _, prompt, sampling in engine.asked:
        assert INSTRUCTION in tokenizer.decode(prompt.token_ids)
        assert sampling.max_tokens == REPLY_TOKENS
    assert {mode for mode, _, _ in engine.asked} == set(Mode)
