"""Two made-up conversations with two questions each, ready to be asked."""

from pathlib import Path

import pytest
import pytest_asyncio

from benchmarks.quality.arms.cases import ConversationCases, prepare
from benchmarks.quality.datasets.locomo import load
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.retrieval.embedder import Embedder
from tests.benchmarks.quality.datasets.locomo_builder import RECORD, written


@pytest.fixture(scope="session")
def tokenizer(bundled_llm: Path) -> ChatTokenizer:
    return ChatTokenizer(bundled_llm)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def conversations(
    tmp_path_factory: pytest.TempPathFactory, bundled_embedder: Path
) -> list[ConversationCases]:
    path = written(tmp_path_factory.mktemp("talk"), RECORD, RECORD | {"sample_id": "conv-2"})
    embedder = Embedder(bundled_embedder)
    found = [
        await prepare(conversation, conversation.questions[:2], embedder)
        for conversation in load(path)
    ]
    embedder.close()
    return found
