"""Composition root: builds database, engine, memory, agent and service from the settings."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app.models.engine_choice import build_engine, engine_arguments, remote_engines, start_engine
from app.models.model_choice import choose_embedding_model, choose_model, stay_offline
from app.settings import DATABASE_FILE, Settings, without_password
from memory_engine.engines.base import Engine
from memory_engine.errors import DatabaseReadOnlyError
from memory_engine.types import Sampling

if TYPE_CHECKING:
    from agent.db.database import Database
    from agent.extraction.extractor import Extractor
    from agent.remember.decider import Decider
    from app.service import ChatService
    from memory_engine.memory import Memory
    from memory_engine.protocols import MemoryEngine
    from memory_engine.retrieval.embedder import Embedder

Progress = Callable[[str], None]


def silent(text: str) -> None:
    """Report no progress."""


async def open_service(
    settings: Settings, *, engine: Engine | None = None, progress: Progress = silent
) -> "ChatService":
    """A running service; `aclose` it. `engine` (not started) replaces that of the settings.

    Cheap checks come first: the database, then the model folder, then the model is loaded.
    When the conformance gate refuses the model, the service runs in text mode only. If a
    step fails, what was opened is closed. Raises UserError and EngineError kinds.
    """
    stay_offline(settings)
    async with AsyncExitStack() as opened:
        database = await open_database(settings)
        opened.push_async_callback(database.aclose)
        model = await asyncio.to_thread(choose_model, settings)
        embedding_model = await asyncio.to_thread(choose_embedding_model, settings)
        if engine is None and settings.engines:
            progress(f"Connecting to {without_password(settings.engines)} ...")
            engine = remote_engines(settings)
        elif engine is None:
            progress(f"Loading {Path(model).name} ...")
            engine = await asyncio.to_thread(build_engine, model, engine_arguments(settings))
        opened.push_async_callback(engine.aclose)
        await start_engine(engine)
        service = await _assemble(settings, database, engine, model, embedding_model)
        opened.pop_all()
    if not service.kv_available:
        progress(f"KV injection is not available, only text mode: {service.kv_refusal}")
    return service


@asynccontextmanager
async def running_service(
    settings: Settings, *, engine: Engine | None = None, progress: Progress = silent
) -> AsyncIterator["ChatService"]:
    """`open_service`, closed at the end."""
    service = await open_service(settings, engine=engine, progress=progress)
    try:
        yield service
    finally:
        await service.aclose()


async def open_database(settings: Settings) -> "Database":
    """The database, at this version's revision; `aclose` it.

    The default SQLite file is created if there is none. Raises DatabaseError kinds.
    """
    from agent.db.database import Database
    from agent.db.revision import check_revision, migrate

    if not settings.database_url:
        await asyncio.to_thread(prepare_data_dir, settings)
        if not (settings.data_dir / DATABASE_FILE).exists():
            await asyncio.to_thread(migrate, settings.database)
    database = Database(settings.database, settings.database_connections)
    try:
        await check_revision(database)
    except BaseException:
        await database.aclose()
        raise
    return database


async def migrate_database(settings: Settings) -> str:
    """Create the database or bring it to this version's revision; return the revision."""
    from agent.db.revision import migrate

    if not settings.database_url:
        await asyncio.to_thread(prepare_data_dir, settings)
    return await asyncio.to_thread(migrate, settings.database)


def prepare_data_dir(settings: Settings) -> None:
    """Create the data folder. Raises DatabaseReadOnlyError when it cannot be written."""
    folder = settings.data_dir
    reason = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
    if reason or not os.access(folder, os.W_OK | os.X_OK):
        raise DatabaseReadOnlyError(
            f"The data folder {folder} cannot be written{reason and f': {reason}'}. Give this "
            "user write permission, or set INFERSCALE_DATA_DIR to another folder."
        )


async def _assemble(
    settings: Settings, database: "Database", engine: Engine, model: str, embedding_model: str
) -> "ChatService":
    from agent.agent import Agent
    from app.service import ChatService

    memory = await asyncio.to_thread(build_memory, settings, engine, model, embedding_model)
    agent = Agent(
        memory,
        database,
        choose_extractor(settings, memory),
        decider=choose_decider(settings, memory),
        sampling=Sampling(max_tokens=settings.max_tokens),
        recall_k=settings.recall_k,
        preceding_turns=settings.window_turns,
        zone=settings.zone,
    )
    return await ChatService(agent, memory, database, engine.conformance).start()


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator["Embedder"]:
    """The embedding model that the settings ask for, without an engine."""
    from memory_engine.retrieval.embedder import Embedder

    stay_offline(settings)
    model = await asyncio.to_thread(choose_embedding_model, settings)
    embedder = await asyncio.to_thread(Embedder, model)
    try:
        yield embedder
    finally:
        embedder.close()


def build_memory(settings: Settings, engine: Engine, model: str, embedding_model: str) -> "Memory":
    """The memory over a started engine. Loads the embedding model: blocks."""
    from memory_engine.memory import Memory
    from memory_engine.prompt.chat_tokenizer import ChatTokenizer
    from memory_engine.retrieval.embedder import Embedder

    return Memory(
        engine,
        Embedder(embedding_model),
        ChatTokenizer(model),
        window=settings.window,
        tail=settings.tail,
    )


def choose_extractor(settings: Settings, memory: "MemoryEngine") -> "Extractor":
    """The extractor that the settings ask for; a new one is added here."""
    from agent.extraction.llm_extractor import LlmExtractor
    from agent.extraction.rule_extractor import RuleExtractor

    return LlmExtractor(memory) if _is_capable(settings) else RuleExtractor()


def choose_decider(settings: Settings, memory: "MemoryEngine") -> "Decider | None":
    """The decider that the settings ask for; None where rules alone decide."""
    from agent.remember.llm_decider import LlmDecider

    return LlmDecider(memory) if _is_capable(settings) else None


def _is_capable(settings: Settings) -> bool:
    # The bundled model repeats the examples of any prompt that asks it to extract.
    return settings.extractor == "model" or (settings.extractor == "auto" and bool(settings.model))
