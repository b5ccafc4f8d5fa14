"""The memory engine over a fake engine, with the bundled tokenizer and embedder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from memory_engine.engines.fake import FakeEngine
from memory_engine.memory import Memory
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.retrieval.embedder import Embedder


@pytest_asyncio.fixture
async def engine() -> FakeEngine:
    engine = FakeEngine()
    await engine.start()
    return engine


@pytest_asyncio.fixture
async def memory(
    engine: FakeEngine, bundled_llm: Path, bundled_embedder: Path
) -> AsyncIterator[Memory]:
    tokenizer = ChatTokenizer(bundled_llm)
    memory = Memory(engine, Embedder(bundled_embedder), tokenizer, window="facts:2", tail=1)
    yield memory
    await memory.aclose()
