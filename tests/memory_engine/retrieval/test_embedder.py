"""Embedding: unit vectors for whatever is said, and one bad text spoils nothing."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from memory_engine.errors import EngineError, ModelNotFoundError
from memory_engine.retrieval.embedder import Embedder
from memory_engine.retrieval.fact_vectors import embed_facts
from memory_engine.types import MemoryFact


@pytest.fixture(scope="module")
def embedder(bundled_embedder: Path) -> Iterator[Embedder]:
    embedder = Embedder(bundled_embedder)
    yield embedder
    embedder.close()


async def test_texts_become_unit_vectors_in_their_order_whatever_their_length(
    embedder: Embedder,
) -> None:
    texts = ["My dog barks, and I love my dog. " * 9, "tax", "", "I have a dog."]
    vectors = await embedder.embed(texts * 10)
    assert vectors.shape == (40, embedder.model.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors[3] @ vectors[0] > vectors[3] @ vectors[1]
    assert vectors[5] @ vectors[1] > 0.99
    assert (await embedder.embed([])).shape == (0, embedder.model.dimension)


async def test_text_beyond_the_models_limit_is_cut_for_the_embedding(embedder: Embedder) -> None:
    start = "I keep bees. " * 100
    one, two = await embedder.embed([start, start + "x" * 2_000_000])
    assert one @ two > 0.99


async def test_half_of_a_surrogate_pair_is_embedded_like_an_unknown_sign(
    embedder: Embedder,
) -> None:
    broken, mended = await embedder.embed(["I like tea \ud83d", "I like tea \ufffd"])
    assert broken @ mended > 0.99


async def test_one_text_that_fails_gets_zeros_and_the_others_their_vectors(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    encode = embedder._model.encode

    def fails_at_poison(texts: list[str], **options: object) -> object:
        if any("poison" in text for text in texts):
            raise IndexError("index out of range in self")
        return encode(texts, **options)

    monkeypatch.setattr(embedder._model, "encode", fails_at_poison)
    vectors = await embedder.embed(["tea", "poison", "I drink tea."])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1], abs=1e-5)
    assert "a text of 6 characters could not be embedded" in caplog.text
    with pytest.raises(EngineError, match="gives no vectors"):
        await embedder.embed(["poison"])


async def test_a_question_does_not_wait_until_all_facts_are_embedded(embedder: Embedder) -> None:
    many = asyncio.create_task(embedder.embed([f"I own {n} boats." for n in range(400)]))
    await asyncio.sleep(0)
    await embedder.embed(["How many boats?"])
    assert not many.done()
    assert len(await many) == 400


async def test_a_text_that_facts_share_is_embedded_once(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    encode = embedder._model.encode

    def noted(texts: list[str], **options: object) -> object:
        asked.extend(texts)
        return encode(texts, **options)

    monkeypatch.setattr(embedder._model, "encode", noted)
    turn = "I ski and I cook."
    facts = [MemoryFact("a", "I ski.", source=turn), MemoryFact("b", "I cook.", source=turn)]
    vectors = await embed_facts(embedder, [*facts, MemoryFact("c", "I sing.")])
    assert sorted(asked) == sorted(["I ski.", "I cook.", "I sing.", turn])
    assert vectors["c"].source is None
    assert vectors["a"].source is not None
    assert np.array_equal(vectors["a"].source, vectors["b"].source)  # type: ignore[arg-type]
    assert [v.cover(f) for f, v in zip(facts, vectors.values(), strict=False)] == [True, True]


def test_the_same_weights_are_the_same_model_and_others_are_not(
    embedder: Embedder, bundled_embedder: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(bundled_embedder, tmp_path / "copy")
    same = Embedder(copy)
    weights = load_file(copy / "model.safetensors")
    name = next(name for name in weights if "query.weight" in name)
    weights[name] = weights[name] + np.float32(0.01)
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    tuned = Embedder(copy)
    assert same.model == embedder.model
    assert tuned.model != embedder.model
    same.close()
    tuned.close()


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="INFERSCALE_EMBEDDING_MODEL"):
        Embedder(tmp_path)
