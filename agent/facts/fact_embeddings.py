"""Storage of facts' embeddings in SQL, so that a start does not compute them again."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from agent.db.database import Database
from agent.db.tables import FactRow, FactVectorRow
from agent.db.user_lock import lock_user
from memory_engine.retrieval.embedder import EmbeddingModel, Vector
from memory_engine.retrieval.fact_vectors import FactVectors

TEXT, SOURCE = "text", "source"
# Little-endian wherever it was written; a unit of work stays short.
FLOAT = np.dtype("<f4")
FACTS_A_TIME = 500

log = logging.getLogger(__name__)


async def drop_vectors(session: AsyncSession, fact_ids: Sequence[int]) -> None:
    """Delete the vectors of facts, in the transaction that forgets them."""
    await session.execute(delete(FactVectorRow).where(FactVectorRow.fact_id.in_(fact_ids)))


class FactEmbeddings:
    """Stores the vectors of all users' facts; every call names the user it is for.

    A cache: what is missing, damaged or of another embedding model is computed again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, owner: str, model: EmbeddingModel) -> dict[str, FactVectors]:
        """The vectors of `owner`'s active facts that `model` made, by fact id."""
        query = (
            select(
                FactVectorRow.fact_id,
                FactVectorRow.part,
                FactVectorRow.model,
                FactVectorRow.dimension,
                FactVectorRow.vector,
            )
            .join(FactRow, FactRow.id == FactVectorRow.fact_id)
            .where(FactRow.owner == owner, FactRow.ended_at.is_(None))
        )
        parts: dict[str, dict[str, Vector]] = {}
        others = 0
        async with self._database.read() as session:
            for fact_id, part, made_by, dimension, kept in await session.execute(query):
                made_here = (made_by, dimension) == (model.id, model.dimension)
                if made_here and len(kept) == dimension * FLOAT.itemsize:
                    vector = np.frombuffer(kept, FLOAT).astype(np.float32)
                    parts.setdefault(str(fact_id), {})[part] = vector
                else:
                    others += 1
        if others:
            log.warning(
                "%d vectors are of another embedding model than %s (%d dimensions); "
                "those facts are embedded again",
                others,
                model.id,
                model.dimension,
            )
        return {i: FactVectors(v[TEXT], v.get(SOURCE)) for i, v in parts.items() if TEXT in v}

    async def save(
        self, owner: str, model: EmbeddingModel, vectors: Mapping[str, FactVectors]
    ) -> None:
        """Keep vectors that `model` made, instead of older ones, of facts that still hold."""
        fact_ids = [int(fact_id) for fact_id in vectors]
        for start in range(0, len(fact_ids), FACTS_A_TIME):
            some = fact_ids[start : start + FACTS_A_TIME]
            async with self._database.write() as session:
                # Nobody forgets a fact between the look and the write.
                await lock_user(session, owner)
                await drop_vectors(session, some)
                active = select(FactRow.id).where(
                    FactRow.owner == owner, FactRow.ended_at.is_(None), FactRow.id.in_(some)
                )
                kept = [(i, vectors[str(i)]) for i in await session.scalars(active)]
                rows = [row for i, each in kept for row in _rows(i, each, model)]
                if rows:
                    await session.execute(insert(FactVectorRow), rows)


def _rows(fact_id: int, vectors: FactVectors, model: EmbeddingModel) -> list[dict[str, object]]:
    parts = {TEXT: vectors.text, SOURCE: vectors.source}
    return [
        {
            "fact_id": fact_id,
            "part": part,
            "model": model.id,
            "dimension": model.dimension,
            "vector": vector.astype(FLOAT).tobytes(),
        }
        for part, vector in parts.items()
        # Zeros stand for a text that could not be embedded: worth another try.
        if vector is not None and vector.any()
    ]
