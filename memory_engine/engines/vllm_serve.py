"""`vllm serve` with the InferScale connector: its command line and its environment."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from memory_engine.connector.protocol.signature import KEY_VARIABLE, api_key
from memory_engine.engines.vllm_arguments import engine_options

# What `vllm serve` runs. The command itself looks for a package of the name vllm, and the one
# for CPUs has another.
_SERVER = "vllm.entrypoints.launchers.api_server.entry"


def serve_command(
    model: str, host: str, port: int, options: Mapping[str, Any], more: Sequence[str] = ()
) -> list[str]:
    """The command of an engine for `RemoteEngine`.

    options: those of `vllm_arguments.engine_options`. more: arguments of `vllm serve` as they are,
    which win. Raises ArenaTooLargeError.
    """
    flags = engine_options(model, **options)
    command = [sys.executable, "-m", _SERVER, "--model", model]
    command += ["--host", host, "--port", str(port)]
    # Usage tells how many tokens were cached and how long a request queued only when asked to.
    command += ["--enable-prompt-tokens-details", "--enable-per-request-metrics"]
    # A line for every look at /health says nothing.
    command += ["--disable-uvicorn-access-log"]
    for name, value in flags.items():
        command += _flag("--" + name.replace("_", "-"), value)
    return command + list(more)


def serve_environment(environment: Mapping[str, str], signing_key: str) -> dict[str, str]:
    """The engine's environment: no list of processes shows the secrets in it."""
    return dict(environment) | {
        KEY_VARIABLE: signing_key,
        "VLLM_API_KEY": api_key(signing_key),
        # As for the embedded engine: a forked one fails where CUDA was asked anything.
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    }


def _flag(name: str, value: object) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    return [name, json.dumps(value) if isinstance(value, dict) else str(value)]
