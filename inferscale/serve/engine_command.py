"""Command `inferscale engine`: vLLM's own server with the connector, for programs elsewhere."""

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated

import typer

from app.settings import Settings
from inferscale.command import run
from memory_engine.errors import SettingsError


def engine(
    more: Annotated[
        list[str] | None,
        typer.Argument(help="Arguments of `vllm serve`, behind --.", metavar="[-- ARGUMENTS]"),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8001,
) -> None:
    """Run `vllm serve` with InferScale's connector, until Ctrl-C or SIGTERM.

    It needs INFERSCALE_SIGNING_KEY, as has whoever uses it through INFERSCALE_ENGINES.
    """
    command: list[str] = []
    environment: dict[str, str] = {}

    async def work(settings: Settings) -> None:
        from app.models.engine_choice import serve_options, signing_key
        from app.models.model_choice import choose_model, stay_offline
        from memory_engine.engines.vllm_serve import serve_command, serve_environment

        _require_one_engine(more or ())
        stay_offline(settings)
        key = signing_key(settings)
        model = await asyncio.to_thread(choose_model, settings)
        options = serve_options(settings)
        command.extend(
            await asyncio.to_thread(serve_command, model, host, port, options, more or ())
        )
        environment.update(serve_environment(os.environ, key))

    run(work)
    # vLLM takes this process's place: signals and the exit code are its own.
    os.execve(command[0], command, environment)


def _require_one_engine(more: Sequence[str]) -> None:
    """Raise SettingsError for data parallelism: each rank would have an arena of its own."""
    for argument in more:
        if argument.startswith(("--data-parallel", "-dp")):
            raise SettingsError(
                f"{argument} makes several engines of one, and nobody could tell which of them "
                "has a user's KV. Start an engine for each GPU, and a router in front of them."
            )
