"""`inferscale engine` and the settings of remote engines, without starting one."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.models.engine_choice import remote_engines
from app.settings import Settings
from inferscale.commands import app
from memory_engine.engines.fleet import Fleet
from memory_engine.errors import SettingsError

KEY = "s3cret" * 8


class Started(Exception):
    """In the place of a process that is replaced."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, bundled_llm: Path, tmp_path: Path) -> dict[str, Any]:
    """The program that would be started, with a key and a model set."""
    found: dict[str, Any] = {}

    def execve(path: str, command: list[str], environment: Mapping[str, str]) -> None:
        found.update(command=command, environment=environment)
        raise Started

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.setenv("INFERSCALE_SIGNING_KEY", KEY)
    monkeypatch.setenv("INFERSCALE_MODEL", str(bundled_llm))
    monkeypatch.setenv("INFERSCALE_DATA_DIR", str(tmp_path))
    return found


def value_of(command: list[str], flag: str) -> str:
    return command[command.index(flag) + 1]


def test_it_starts_vllms_server_with_the_connector_and_passes_the_rest_on(
    started: dict[str, Any], bundled_llm: Path
) -> None:
    more = ["--tensor-parallel-size", "2"]
    result = CliRunner().invoke(app, ["engine", "--port", "8123", "--", *more])
    assert isinstance(result.exception, Started)
    command = started["command"]
    assert value_of(command, "--model") == str(bundled_llm)
    assert value_of(command, "--host") == "127.0.0.1"
    assert value_of(command, "--port") == "8123"
    assert command[-2:] == more
    transfer = json.loads(value_of(command, "--kv-transfer-config"))
    assert transfer["kv_connector_module_path"] == "memory_engine.connector"
    assert transfer["kv_connector_extra_config"]["arena_bytes"] == 1024 << 20
    assert "signing_key" not in transfer["kv_connector_extra_config"]
    assert json.loads(value_of(command, "--structured-outputs-config"))["backend"] == "xgrammar"


def test_secrets_go_through_the_environment_only(started: dict[str, Any]) -> None:
    CliRunner().invoke(app, ["engine"])
    assert started["environment"]["INFERSCALE_SIGNING_KEY"] == KEY
    assert started["environment"]["VLLM_API_KEY"] not in ("", KEY)
    assert started["environment"]["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn"
    line = " ".join(started["command"])
    assert KEY not in line
    assert started["environment"]["VLLM_API_KEY"] not in line


def test_without_a_key_it_says_how_to_make_one(
    started: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("INFERSCALE_SIGNING_KEY")
    result = CliRunner().invoke(app, ["engine"])
    assert result.exit_code == 2
    assert "openssl rand -hex 32" in result.stderr
    assert not started


@pytest.mark.parametrize("flag", ["--data-parallel-size", "-dp", "--data-parallel-rank=1"])
def test_ranks_that_share_no_memory_are_not_one_engine(started: dict[str, Any], flag: str) -> None:
    result = CliRunner().invoke(app, ["engine", "--", flag, "2"])
    assert result.exit_code == 2
    assert "several engines" in result.stderr
    assert not started


def test_several_engines_need_a_router() -> None:
    given = Settings(engines="http://a:8001, http://b:8001", signing_key=KEY)
    with pytest.raises(SettingsError, match="vllm-router --policy consistent_hash"):
        remote_engines(given)


@pytest.mark.parametrize("urls", ["http://a:8001", "http://a:8001,http://b:8001/"])
async def test_engines_and_their_router_become_one_engine(urls: str) -> None:
    engine = remote_engines(Settings(engines=urls, router="http://r:8000", signing_key=KEY))
    assert isinstance(engine, Fleet)
    await engine.aclose()


def test_engines_without_a_key_are_refused() -> None:
    with pytest.raises(SettingsError, match="INFERSCALE_SIGNING_KEY"):
        remote_engines(Settings(engines="http://a:8001"))
