"""Text to vectors: sentence-transformers, off the event loop."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_engine.errors import ModelNotFoundError

Vectors = NDArray[np.float32]
_BATCH = 32


class Embedder:
    """An embedding model on one worker thread. Text beyond its length limit is cut off.

    model: a local folder or a hub id. Raises ModelNotFoundError if there is none.
    """

    def __init__(self, model: str | Path) -> None:
        from sentence_transformers import SentenceTransformer

        try:
            self._model: Any = SentenceTransformer(str(model), device="cpu")
        except (OSError, ValueError) as error:
            raise ModelNotFoundError(
                f"No embedding model was found in {model}: name a folder or a hub id in "
                f"INFERSCALE_EMBEDDING_MODEL. ({error})"
            ) from error
        # One thread: the tokenizer inside is not safe to use from two at once.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="embedder")

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of `texts`: float32 [len(texts), dimension]."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._embed, list(texts))

    def close(self) -> None:
        """Stop the thread."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: list[str]) -> Vectors:
        vectors = self._model.encode(
            texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)
