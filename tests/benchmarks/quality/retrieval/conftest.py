"""The bundled embedding model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_engine.retrieval.embedder import Embedder


@pytest.fixture(scope="module")
def embedder(bundled_embedder: Path) -> Iterator[Embedder]:
    embedder = Embedder(bundled_embedder)
    yield embedder
    embedder.close()
