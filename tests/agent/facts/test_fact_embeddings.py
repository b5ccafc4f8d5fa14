"""Vectors in SQL: kept over a restart, of one model only, and gone with their fact."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import numpy as np
import pytest

from agent.agent import Agent
from agent.db.database import Database
from agent.extraction.rule_extractor import RuleExtractor
from agent.facts.fact_embeddings import FactEmbeddings
from agent.facts.fact_store import FactStore
from agent.facts.forgetting import Forgetting
from agent.facts.manual_facts import manual_candidate
from agent.facts.reindex import reindex
from memory_engine.engines.fake import FakeEngine
from memory_engine.errors import DatabaseLockedError
from memory_engine.memory import Memory
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.retrieval.embedder import Embedder, EmbeddingModel, Vectors
from memory_engine.retrieval.fact_vectors import FactVectors
from tests.agent.agent_builder import opened, prepare, url_of

MODEL = EmbeddingModel("one", 3)


class CountingEmbedder(Embedder):
    """No model: a text's letters, counted. Says what it was asked."""

    def __init__(self, model: EmbeddingModel) -> None:
        self.model = model
        self.asked: list[str] = []

    async def embed(self, texts: object) -> Vectors:
        rows = []
        for text in list(texts):  # type: ignore[call-overload]
            self.asked.append(text)
            rows.append([1 + text.count(chr(97 + n)) for n in range(self.model.dimension)])
        vectors = np.asarray(rows, dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def close(self) -> None:
        pass


@asynccontextmanager
async def started(
    folder: Path, llm: Path, model: EmbeddingModel = MODEL
) -> AsyncIterator[tuple[Agent, CountingEmbedder]]:
    """A process over the database in `folder`, with an embedder that counts."""
    prepare(url_of(folder))
    engine, embedder = FakeEngine(), CountingEmbedder(model)
    await engine.start()
    memory, database = Memory(engine, embedder, ChatTokenizer(llm)), Database(url_of(folder))
    agent = Agent(memory, database, RuleExtractor())
    yield agent, embedder
    await agent.aclose()
    await memory.aclose()
    await database.aclose()


def rows(folder: Path) -> list[tuple[int, str, str, int, int]]:
    with closing(sqlite3.connect(folder / "inferscale.db")) as connection:
        query = (
            "SELECT fact_id, part, model, dimension, length(vector) FROM fact_vectors ORDER BY 1, 2"
        )
        return connection.execute(query).fetchall()


async def recalled(agent: Agent, question: str) -> list[str]:
    await agent._memory_sync.ensure("ann")
    found = await agent._memory.retriever.recall("ann", question, 9)
    return [each.fact.text for each in found]


FACTS = [manual_candidate(text) for text in ("I ski.", "I cook.", "I own a boat.")]


async def test_a_restart_embeds_nothing_and_recalls_the_same(
    tmp_path: Path, bundled_llm: Path
) -> None:
    async with started(tmp_path, bundled_llm) as (agent, embedder):
        await agent.fact_manager.add("ann", FACTS)
        before = await recalled(agent, "boat")
        assert embedder.asked == [*(f.text for f in FACTS), "boat"]
    assert [row[1:] for row in rows(tmp_path)] == [("text", "one", 3, 12)] * 3
    async with started(tmp_path, bundled_llm) as (agent, embedder):
        assert await recalled(agent, "boat") == before
        assert embedder.asked == ["boat"]


async def test_another_embedding_model_is_told_and_all_is_embedded_again(
    tmp_path: Path, bundled_llm: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """mem0#6318, #3385, #3148, open-webui#28316, #28344: shapes that do not fit."""
    async with started(tmp_path, bundled_llm) as (agent, _):
        await agent.fact_manager.add("ann", FACTS)
    wider = EmbeddingModel("two", 5)
    async with started(tmp_path, bundled_llm, wider) as (agent, embedder):
        assert (await recalled(agent, "boat"))[0] == "I own a boat."
        assert embedder.asked == [*(f.text for f in FACTS), "boat"]
    assert "3 vectors are of another embedding model than two (5 dimensions)" in caplog.text
    assert [row[2:] for row in rows(tmp_path)] == [("two", 5, 20)] * 3


async def test_a_forgotten_fact_has_no_vectors_in_the_database(
    tmp_path: Path, bundled_llm: Path
) -> None:
    async with started(tmp_path, bundled_llm) as (agent, _):
        first, *_ = await agent.fact_manager.add("ann", FACTS)
        await agent.fact_manager.forget("ann", [first.id])
        assert int(first.id) not in {row[0] for row in rows(tmp_path)}
        assert len(rows(tmp_path)) == 2
        assert "I ski." not in await recalled(agent, "ski")


async def test_what_a_turn_said_is_embedded_and_kept_with_its_fact(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.say("My dog is called Biscuit. What a day.")
        (held,) = parts.memory.held["ann"]
        assert held.source == "My dog is called Biscuit. What a day."
        assert [row[1] for row in rows(tmp_path)] == ["source", "text"]


async def test_vectors_come_back_as_they_were_and_replace_older_ones(tmp_path: Path) -> None:
    prepare(url_of(tmp_path))
    database = Database(url_of(tmp_path))
    store, (fact, other) = FactEmbeddings(database), await FactStore(database).add("ann", FACTS[:2])
    one, two = (np.asarray(v, dtype=np.float32) for v in ([0.6, 0.8, 0], [1, 0, 0]))
    await store.save("ann", MODEL, {fact.id: FactVectors(one, two), other.id: FactVectors(one)})
    await store.save("ann", MODEL, {fact.id: FactVectors(two)})
    loaded = await store.load("ann", MODEL)
    assert np.array_equal(loaded[fact.id].text, two)
    assert loaded[fact.id].source is None
    assert np.array_equal(loaded[other.id].text, one)
    assert await store.load("ben", MODEL) == {}
    await database.aclose()


async def test_vectors_of_another_user_or_of_a_forgotten_fact_are_not_kept(tmp_path: Path) -> None:
    prepare(url_of(tmp_path))
    database = Database(url_of(tmp_path))
    facts, store = FactStore(database), FactEmbeddings(database)
    (mine,) = await facts.add("ann", FACTS[:1])
    (gone,) = await facts.add("ben", FACTS[:1])
    await Forgetting(database).facts("ben", [gone.id])
    vector = FactVectors(np.asarray([1, 0, 0], dtype=np.float32))
    await store.save("ben", MODEL, {mine.id: vector, gone.id: vector})
    assert rows(tmp_path) == []
    await database.aclose()


async def test_a_damaged_vector_is_computed_again(tmp_path: Path, bundled_llm: Path) -> None:
    async with started(tmp_path, bundled_llm) as (agent, _):
        await agent.fact_manager.add("ann", FACTS)
    with closing(sqlite3.connect(tmp_path / "inferscale.db")) as connection, connection:
        connection.execute("UPDATE fact_vectors SET vector = x'00' WHERE fact_id = 2")
    async with started(tmp_path, bundled_llm) as (agent, embedder):
        await recalled(agent, "boat")
        assert embedder.asked == ["I cook.", "boat"]
    assert [row[4] for row in rows(tmp_path)] == [12, 12, 12]


async def test_a_locked_database_costs_the_vectors_not_the_reply(
    tmp_path: Path,
    bundled_llm: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def locked(*_: object) -> None:
        raise DatabaseLockedError("The database is locked.")

    monkeypatch.setattr(FactEmbeddings, "save", locked)
    async with started(tmp_path, bundled_llm) as (agent, _):
        await agent.fact_manager.add("ann", FACTS)
        assert (await recalled(agent, "boat"))[0] == "I own a boat."
    assert "the vectors of 3 facts could not be kept" in caplog.text
    assert rows(tmp_path) == []


async def test_reindexing_embeds_all_that_holds_with_the_model_of_now(
    tmp_path: Path, bundled_llm: Path
) -> None:
    async with started(tmp_path, bundled_llm) as (agent, _):
        first, *_ = await agent.fact_manager.add("ann", FACTS)
        await agent.fact_manager.forget("ann", [first.id])
    database, embedder = Database(url_of(tmp_path)), CountingEmbedder(EmbeddingModel("two", 2))
    assert await reindex(database, embedder, "ann") == 2
    await database.aclose()
    assert embedder.asked == ["I cook.", "I own a boat."]
    assert [row[2:] for row in rows(tmp_path)] == [("two", 2, 8)] * 2
