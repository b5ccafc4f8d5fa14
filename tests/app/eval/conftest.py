"""Two made-up conversations with two questions each, ready to be asked."""

from pathlib import Path

import pytest
import pytest_asyncio

from app.eval.cases import Talk, prepare
from app.eval.locomo import load
from memory_engine.embedder import Embedder
from memory_engine.tokens import ChatTokenizer
from tests.app.eval.talk import RECORD, written


@pytest.fixture(scope="session")
def tokenizer(bundled_llm: Path) -> ChatTokenizer:
    return ChatTokenizer(bundled_llm)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def talks(tmp_path_factory: pytest.TempPathFactory, bundled_embedder: Path) -> list[Talk]:
    path = written(tmp_path_factory.mktemp("talk"), RECORD, RECORD | {"sample_id": "conv-2"})
    embedder = Embedder(bundled_embedder)
    found = [await prepare(talk, talk.questions[:2], embedder) for talk in load(path)]
    embedder.close()
    return found
