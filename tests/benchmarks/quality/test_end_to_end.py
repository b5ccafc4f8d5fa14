"""From dialogue to answers, over the real agent; only the language model is left out."""

from datetime import datetime
from pathlib import Path

import pytest

from app.composition import silent
from app.settings import Settings
from benchmarks.quality.datasets.locomo import LocomoConversation, load
from benchmarks.quality.end_to_end import INSTRUCTION, run_end_to_end, speakers
from benchmarks.quality.eval_session import QuestionSelection
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import UnsupportedModelError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import Prompt
from tests.benchmarks.quality.datasets.locomo_builder import written


@pytest.fixture
def conversation(tmp_path: Path) -> LocomoConversation:
    (conversation,) = load(written(tmp_path))
    return conversation


@pytest.fixture
def settings(bundled_llm: Path, data_dir: Path) -> Settings:
    return Settings(model=str(bundled_llm), data_dir=data_dir, extractor="rules")


def test_a_speaker_is_asked_about_only_where_named_alone(conversation: LocomoConversation) -> None:
    vera, olaf = speakers(conversation, conversation.questions[:4])
    assert [question.text for question in vera.questions] == ["Would Vera like a farm?"]
    assert [q.id for q in olaf.questions] == ["locomo_0_qa0", "locomo_0_qa3"]


def test_a_speaker_says_who_they_are_and_then_all_their_turns(
    conversation: LocomoConversation,
) -> None:
    (olaf,) = speakers(conversation, conversation.questions[3:4])
    first = datetime(2024, 2, 29, 0, 30)
    assert olaf.user == "conv-1 Olaf"
    assert olaf.said == (
        (first, "My name is Olaf."),
        (first, "I work in a café."),
        (datetime(2024, 6, 2, 9, 5), "I sold my café in Köln."),
    )


async def test_what_was_said_becomes_facts_of_its_day_and_answers(
    tmp_path: Path, settings: Settings, tokenizer: ChatTokenizer
) -> None:
    prompts: list[str] = []

    def reply(prompt: Prompt) -> str:
        prompts.append(tokenizer.decode(prompt.token_ids))
        return "in a café" if "you work in a café" in prompts[-1].lower() else "nowhere"

    selection = QuestionSelection(written(tmp_path), None, 4, 0)
    report = await run_end_to_end(settings, selection, silent, FakeEngine(reply))
    assert report["n"] == 2, "about Olaf; the question about Vera has no evidence"
    assert report["turns"] == 3
    assert report["facts"]["conv-1 Olaf"] >= 2
    # One of the two questions is where he worked.
    assert [report["f1"][arm]["value"] for arm in ("none", "text", "kv")] == [0.0, 0.5, 0.5]
    assert report["same_reply"] == 1.0
    assert any("29 February 2024" in prompt for prompt in prompts)
    assert all(INSTRUCTION in prompt for prompt in prompts)


async def test_a_refused_model_is_not_asked(tmp_path: Path, settings: Settings) -> None:
    selection = QuestionSelection(written(tmp_path), None, 4, 0)
    with pytest.raises(UnsupportedModelError, match="nothing to compare"):
        await run_end_to_end(settings, selection, silent, FakeEngine(supported=False))
