"""Frame of every command: settings, logging, event loop, database, errors as exit codes."""

import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
import uvloop

from agent.owner import owner_name
from app.settings import Settings, load_settings, unknown_variables
from inferscale.output import note, stdout_for_results
from memory_engine.errors import InferScaleError, UserError

if TYPE_CHECKING:
    from agent.db.database import Database

USER_ERROR, ENGINE_ERROR, INTERRUPTED = 2, 1, 130


def _named(user: str) -> str:
    try:
        return owner_name(user)
    except UserError as error:
        raise typer.BadParameter(str(error)) from None


AsJson = Annotated[bool, typer.Option("--json", help="Print exactly one JSON line on stdout.")]
User = Annotated[str, typer.Option("--user", "-u", help="Whose memory.", callback=_named)]


def run(work: Callable[[Settings], Awaitable[None]], **given: Any) -> None:
    """Run `work` with the settings; `given` settings (not None) win over the environment."""
    with reported_errors(), stdout_for_results():
        for line in unknown_variables():
            note(f"Warning: {line}")
        settings = load_settings(**given)
        set_up_logging(settings.log, as_json=settings.log_format == "json")
        # Its sockets answer sooner than those of asyncio's own loop: DECISIONS.md.
        uvloop.run(_awaited(work, settings))


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turn errors raised on purpose into a message on stderr and an exit code."""
    try:
        yield
    except UserError as error:
        note(str(error))
        raise typer.Exit(USER_ERROR) from None
    except InferScaleError as error:
        note(str(error))
        raise typer.Exit(ENGINE_ERROR) from None
    except KeyboardInterrupt:
        note("Interrupted.")
        raise typer.Exit(INTERRUPTED) from None


@asynccontextmanager
async def opened_database(settings: Settings) -> AsyncIterator["Database"]:
    """Open the database of the settings for a block, and close it at the end."""
    from app.composition import open_database

    database = await open_database(settings)
    try:
        yield database
    finally:
        await database.aclose()


def set_up_logging(level: str, *, as_json: bool = False) -> None:
    """Send all logging to stderr, vLLM's too. Call before vLLM is imported."""
    # What libraries warn of at a start is nothing that a user could mend.
    of_libraries = "error" if level == "warning" else level
    os.environ.setdefault("VLLM_LOGGING_LEVEL", of_libraries.upper())
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", of_libraries)
    if of_libraries == "error":
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
        os.environ.setdefault("PYTHONWARNINGS", "ignore::FutureWarning")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    logging.basicConfig(level=level.upper(), format="%(levelname)s %(name)s: %(message)s")
    if as_json:
        from pythonjsonlogger.json import JsonFormatter

        fields = {"levelname": "level", "name": "logger", "asctime": "at"}
        form = JsonFormatter("%(asctime)s %(levelname)s %(name)s %(message)s", rename_fields=fields)
        for handler in logging.getLogger().handlers:
            handler.setFormatter(form)


async def _awaited(work: Callable[[Settings], Awaitable[None]], settings: Settings) -> None:
    await work(settings)
