"""Fixtures that several folders share: models, a private PostgreSQL, a browser."""

import gc
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
import pytest_asyncio

from agent.db.tables import Base
from app.models.bundled import embedding_folder, llm_folder
from tests.absent_programs import absent
from tests.absent_programs import pytest_terminal_summary as pytest_terminal_summary
from tests.agent.agent_builder import prepare, url_of
from tests.memory_engine.engines.engine_servers import Serving
from tests.memory_engine.engines.tiny_llama_builder import write_talking_llama
from tests.memory_engine.families.suite_server import Measuring
from tests.postgres_server import PostgresServer

if TYPE_CHECKING:
    from memory_engine.engines.embedded import EmbeddedEngine

# No test contacts anybody; libraries read these when they are imported.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")


def pytest_collection_finish() -> None:
    """Have Python look for garbage less often, and not in what was imported.

    That was a sixth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where there is none, and run what drives a browser last.

    Playwright keeps an event loop running in the main thread until the session ends.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _gpu_answers():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU; torch finds none here"))


@pytest.fixture(scope="session", autouse=True)
def measuring(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Measuring | None]:
    """The measurement that the families' tests wait for, begun before all others if they run."""
    wanted = any("measured" in getattr(i, "fixturenames", ()) for i in request.session.items)
    if not wanted or _gpu_answers():
        yield None
        return
    process = Measuring(tmp_path_factory.mktemp("families"))
    yield process
    process.end()


@pytest.fixture(scope="session")
def talking_llama(tmp_path_factory: pytest.TempPathFactory, bundled_llm: Path) -> Path:
    """Random weights with the bundled model's tokenizer; 16 KiB of KV a token in float32."""
    folder = tmp_path_factory.mktemp("talking-llama")
    write_talking_llama(folder, bundled_llm)
    return folder


@pytest.fixture(scope="session")
def serving(talking_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Two engines that begin to start; it takes them a minute."""
    begun = Serving(talking_llama, tmp_path_factory.mktemp("engines"))
    yield begun
    begun.end()


@pytest.fixture(scope="session", autouse=True)
def serving_early(request: pytest.FixtureRequest) -> None:
    """Begin with them before all other tests, if any is seen to use them."""
    if any("served_engines" in getattr(i, "fixturenames", ()) for i in request.session.items):
        request.getfixturevalue("serving")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """An empty data folder of one test."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def bundled_llm(request: pytest.FixtureRequest) -> Path:
    """The bundled LLM as a Hugging Face folder, made once and kept between runs.

    It is kept in INFERSCALE_TEST_DATA, else in pytest's cache.
    """
    kept = os.environ.get("INFERSCALE_TEST_DATA")
    return llm_folder(Path(kept) if kept else request.config.cache.mkdir("inferscale"))


@pytest.fixture(scope="session")
def bundled_embedder() -> Path:
    """The folder of the bundled embedding model."""
    return embedding_folder()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    return path or absent("Chromium", "chromium")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A private PostgreSQL that tests share; gone at the end."""
    server = PostgresServer(postgres_programs(), loses_commits=True)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def mortal_postgres() -> Iterator[PostgresServer]:
    """A private PostgreSQL whose tests may kill it, if they start it again."""
    server = PostgresServer(postgres_programs())
    try:
        server.start()
        yield server
    finally:
        server.remove()


DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=DATABASES)
def blank_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """SQLAlchemy URL of a database of one test without any table, on either database."""
    if request.param == "sqlite":
        return url_of(tmp_path)
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """SQLAlchemy URL of a migrated and empty database of one test, on either database."""
    if request.param == "sqlite":
        url = url_of(tmp_path)
        prepare(url)
        return url
    request.getfixturevalue("emptied_postgres")
    return str(request.getfixturevalue("migrated_postgres"))


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: PostgresServer) -> str:
    """SQLAlchemy URL of a migrated PostgreSQL database that tests share, one after the other."""
    url = postgres_server.create("shared")
    prepare(url)
    return url


@pytest.fixture
def emptied_postgres(postgres_server: PostgresServer, migrated_postgres: str) -> None:
    """The shared PostgreSQL database as it was when it was made."""
    tables = ", ".join(table.name for table in Base.metadata.sorted_tables)
    with psycopg.connect(
        host=str(postgres_server.home), user="inferscale", dbname="shared", autocommit=True
    ) as connection:
        connection.execute(f"TRUNCATE {tables} RESTART IDENTITY".encode())


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """SQLAlchemy URL of an empty PostgreSQL database of one test."""
    return postgres_server.create(f"test_{uuid4().hex}")


def _gpu_answers() -> bool:
    import torch

    return torch.cuda.is_available()


def postgres_programs() -> Path:
    """The folder of PostgreSQL's server programs."""
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(installed, key=lambda path: int(path.parts[-3]), default=None)
    on_path = shutil.which("initdb")
    if newest is None and on_path is None:
        absent("PostgreSQL", "postgresql")
    return newest.parent if newest else Path(str(on_path)).resolve().parent


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def real_engine(bundled_llm: Path) -> AsyncIterator["EmbeddedEngine"]:
    """vLLM with the bundled model, started once a session.

    Paged cache and arena hold about a thousand tokens each, and a step takes 256, so that
    preemption, eviction and chunked prefill happen with short prompts.
    """
    from memory_engine.engines.embedded import EmbeddedEngine

    engine = EmbeddedEngine(
        bundled_llm,
        arena_bytes=40 << 20,
        kv_cache_bytes=60 << 20,
        max_model_len=1024,
        dtype="float32",
        max_num_batched_tokens=256,
        block_size=32,
    )
    await engine.start()
    yield engine
    await engine.aclose()
