"""Recomputation of a user's vectors with the embedding model that is set now."""

from agent.db.database import Database
from agent.facts.fact_embeddings import FactEmbeddings
from agent.facts.fact_store import FactStore
from memory_engine.retrieval.embedder import Embedder
from memory_engine.retrieval.fact_vectors import embed_facts
from memory_engine.types import MemoryFact


async def reindex(database: Database, embedder: Embedder, owner: str) -> int:
    """Embed all active facts of `owner` and keep the vectors; returns how many facts."""
    facts = FactStore(database)
    active, sources = await facts.active(owner), await facts.sources(owner)
    held = [MemoryFact(f.id, f.text, f.when, source=sources.get(f.id, "")) for f in active]
    vectors = await embed_facts(embedder, held)
    await FactEmbeddings(database).save(owner, embedder.model, vectors)
    return len(held)
