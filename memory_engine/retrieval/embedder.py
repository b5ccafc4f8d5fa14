"""Embeds text with sentence-transformers, off the event loop."""

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from memory_engine.errors import EngineError, ModelNotFoundError

Vectors = NDArray[np.float32]
Vector = NDArray[np.float32]
# A question waits for at most one batch of somebody else's facts.
_BATCH = 16
# Longer than any token in practice: what is cut here is cut off by the tokenizer anyway.
_CHARACTERS_A_TOKEN = 32

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedding model; `id` is a digest of its weights, 16 hexadecimal digits."""

    id: str
    dimension: int


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
        dimension = self._model.get_embedding_dimension()
        self.model = EmbeddingModel(_digest(self._model), dimension)
        self._longest = (self._model.max_seq_length or 512) * _CHARACTERS_A_TOKEN
        if _computes_bfloat16():
            self._model.to(torch.bfloat16)
        # One thread, for the tokenizer is not safe to use from two at once; and one thread of
        # torch's: beside a busy engine two wait for each other (measured: DECISIONS.md).
        self._executor = ThreadPoolExecutor(
            1, thread_name_prefix="embedder", initializer=torch.set_num_threads, initargs=(1,)
        )

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of `texts`: float32 [len(texts), dimension].

        A text that cannot be embedded gets a vector of zeros, which is near nothing, and is
        logged. Raises EngineError if that is so for all of them.
        """
        loop = asyncio.get_running_loop()
        vectors = np.zeros((len(texts), self.model.dimension), dtype=np.float32)
        # Texts of equal length together: a batch is as slow as its longest.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = await loop.run_in_executor(
                self._executor, self._embed, [texts[index] for index in batch]
            )
        if len(texts) > 0 and not vectors.any():
            raise EngineError("The embedding model gives no vectors; the log has the reason.")
        return vectors

    def close(self) -> None:
        """Stop the thread."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: list[str]) -> Vectors:
        try:
            return self._encode(texts)
        except Exception:
            if len(texts) > 1:
                return np.concatenate([self._embed([text]) for text in texts])
            log.exception("a text of %d characters could not be embedded", len(texts[0]))
            return np.zeros((1, self.model.dimension), dtype=np.float32)

    def _encode(self, texts: list[str]) -> Vectors:
        cut = [_without_surrogates(text[: self._longest]) for text in texts]
        found = self._model.encode(cut, batch_size=_BATCH, show_progress_bar=False)
        vectors: Vectors = np.asarray(found, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise ValueError("the model's vectors have no direction")
        vectors /= lengths
        return vectors


def _without_surrogates(text: str) -> str:
    """Tokenizers refuse half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _computes_bfloat16() -> bool:
    """Whether this CPU multiplies bf16 in hardware: half the weights to read from memory."""
    able = torch.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def _digest(model: Any) -> str:
    digest = hashlib.sha256()
    for name, weights in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(weights.contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]
