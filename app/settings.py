"""Settings: one table of `INFERSCALE_<NAME>` environment variables, read once at start."""

import os
import re
from collections.abc import Mapping
from datetime import tzinfo
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings.sources import PydanticBaseSettingsSource
from tzlocal import get_localzone

from app.settings_checks import Folder, Key, RateLimits, StoreDtype, Urls, Window, Zone, setting
from memory_engine.errors import SettingsError

PREFIX = "INFERSCALE_"
FOR_TESTS = PREFIX + "TEST_"
DATABASE_FILE = "inferscale.db"


class Settings(BaseSettings):
    """The settings, from `INFERSCALE_<NAME>` variables. Frozen: nothing changes while it runs."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid"
    )

    model: str = setting(
        "",
        "The language model: a folder, or a Hugging Face id that may be downloaded. "
        "Empty is the bundled SmolLM2-135M-Instruct.",
        "a folder with a config.json, or a hub id such as owner/name",
    )
    embedding_model: str = setting(
        "",
        "The embedding model for recall: a folder or a hub id. Empty is the bundled "
        "all-MiniLM-L6-v2.",
        "a folder, or a hub id such as owner/name",
    )
    data_dir: Folder = setting(
        Path("~/.local/share/inferscale"),
        "Where the database and the prepared models live.",
        "a folder that can be written",
    )
    database_url: str = setting(
        "",
        "SQLAlchemy URL of the database. Empty is an SQLite file in the data folder.",
        "sqlite+aiosqlite:///path or postgresql+psycopg://user:password@host/name",
        pattern=r"^$|^(sqlite\+aiosqlite|postgresql(\+psycopg)?)://",
    )
    engines: Urls = setting(
        "",
        "The engines that `inferscale engine` started and this program uses. Empty is an engine "
        "of its own.",
        "URLs such as http://10.0.0.5:8001, separated by commas",
    )
    router: Urls = setting(
        "",
        "The vllm-router in front of `INFERSCALE_ENGINES`, which more than one of them need.",
        "a URL such as http://10.0.0.4:8000",
    )
    signing_key: Key = setting(
        SecretStr(""),
        "The secret that engines and whoever uses them share; who has it can read memories.",
        "32 characters or more",
    )
    database_connections: int = setting(
        10,
        "The most connections that a process has to a PostgreSQL server, but for one more while "
        "it remembers a turn.",
        "a whole number of 1 or more",
        ge=1,
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = setting(
        "auto",
        "Number type of weights and KV. `auto` is float32 on a CPU and the model's own on a GPU.",
        "auto, float32, bfloat16 or float16",
    )
    arena_mib: int = setting(
        1024, "Memory for the KV of facts, in MiB.", "a whole number of 16 or more", ge=16
    )
    host_mib: int = setting(
        0,
        "Host memory behind the arena for the KV of facts that do not fit it, in MiB. 0 is none.",
        "a whole number of 0 or more",
        ge=0,
    )
    snapshot_mib: int = setting(
        2048,
        "Disk space for the KV of facts, so that it outlives a restart, in MiB. 0 is none.",
        "a whole number of 0 or more",
        ge=0,
    )
    user_share: int = setting(
        100,
        "The most of the arena, and of the host memory behind it, that one user's facts may have, "
        "in percent. Who reaches it loses KV of their own.",
        "1 to 100",
        ge=1,
        le=100,
    )
    store_dtype: StoreDtype = setting(
        "auto",
        "How the KV of facts is stored: `auto` as the model computes it, `fp8` in half the "
        "memory of 16 bits and less exactly.",
        "auto or fp8",
    )
    kv_cache_mib: int = setting(
        0,
        "Memory for vLLM's paged KV cache, in MiB. 0 is what a GPU has left, or 1024 on a CPU.",
        "a whole number of 0 or more",
        ge=0,
    )
    max_model_len: int = setting(
        4096,
        "Longest prompt and reply together, in tokens. Less if the model cannot take so much.",
        "a whole number of 256 or more",
        ge=256,
    )
    max_tokens: int = setting(256, "Longest reply, in tokens.", "a whole number of 1 or more", ge=1)
    window: Window = setting(
        "facts:8",
        "What a fact is encoded behind: preceding facts, preceding dialogue turns or nothing.",
        "none, facts:N or turns:N with N of 1 or more",
    )
    tail: int = setting(
        3,
        "How many of the most relevant facts are sent as exact text behind the injected ones.",
        "a whole number of 0 or more",
        ge=0,
    )
    recall_k: int = setting(
        50, "How many facts a reply recalls.", "a whole number of 0 or more", ge=0
    )
    extractor: Literal["auto", "rules", "model"] = setting(
        "auto",
        "Who finds facts in what the user says. `auto` is rules for the bundled model and "
        "the model otherwise.",
        "auto, rules or model",
    )
    user: str = setting(
        "me",
        "Whose memory it is where nobody has to sign in.",
        "any name that is not blank",
        pattern=r"\S",
    )
    timezone: Zone = setting(
        "",
        "The users' time zone, by which \"yesterday\" is resolved. Empty is this machine's.",
        "an IANA name such as Europe/Berlin",
    )
    host: str = setting(
        "127.0.0.1", "Address to listen on.", "a host name or an IP address", pattern=r"\S"
    )
    port: int = setting(
        7860,
        "Port to listen on. 0 lets the system choose.",
        "a whole number from 0 to 65535",
        ge=0,
        le=65535,
    )
    auth: Literal["off", "accounts", "keys", "proxy"] = setting(
        "off",
        "Who may ask. `off`: everybody who reaches the port, which then has to be on this "
        "machine. `accounts`: who has a password set by `inferscale accounts add`, or a key. "
        "`keys`: who has a key made by `inferscale keys add`. `proxy`: whom a proxy signed in, or "
        "who has a key.",
        "off, accounts, keys or proxy",
    )
    session_days: int = setting(
        30,
        "How long a browser stays signed in, in days.",
        "a whole number from 1 to 400",
        ge=1,
        le=400,
    )
    auth_header: str = setting(
        "X-Forwarded-User",
        "The header in which the proxy names the user.",
        "the name of a header",
        pattern=r"^[A-Za-z0-9-]+$",
    )
    auth_peers: str = setting(
        "",
        "The proxy's addresses; the header is believed from no other.",
        "IP addresses or networks, separated by commas",
    )
    rate_limit: RateLimits = setting(
        "",
        "How many API requests a user may send. Empty is no limit.",
        "such as 60/minute, or 5/second; 1000/day",
    )
    max_waiting: int = setting(
        64,
        "How many API requests may wait for their first token; more are told to come back.",
        "a whole number of 1 or more",
        ge=1,
    )
    max_request_kib: int = setting(
        4096, "The largest API request, in KiB.", "a whole number of 1 or more", ge=1
    )
    drain_seconds: int = setting(
        10,
        "How long replies of the API may go on when the server is stopped, in seconds.",
        "a whole number of 0 or more",
        ge=0,
    )
    log_format: Literal["text", "json"] = setting(
        "text", "Whether log lines are for people or JSON objects.", "text or json"
    )
    log: Literal["debug", "info", "warning", "error"] = setting(
        "warning", "How much is logged, to stderr.", "debug, info, warning or error"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment; no file is read behind the user's back."""
        return init_settings, env_settings

    @property
    def database(self) -> str:
        """The database's URL with the default filled in."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / DATABASE_FILE}"

    @property
    def zone(self) -> tzinfo:
        """The users' time zone."""
        return ZoneInfo(self.timezone) if self.timezone else get_localzone()

    @property
    def window_turns(self) -> int:
        """Dialogue turns that a fact is encoded behind; 0 unless the window is turns:N."""
        kind, _, count = self.window.partition(":")
        return int(count) if kind == "turns" else 0


def load_settings(**given: Any) -> Settings:
    """Read the environment; `given` (not None) wins. Raises SettingsError naming the key."""
    try:
        return Settings(**{key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        lines = [_explain(fault["loc"], fault["input"]) for fault in error.errors()]
        raise SettingsError("\n".join(lines)) from None


def allowed_values(field: FieldInfo) -> str:
    """Describe the values that a field accepts, in words."""
    extra = field.json_schema_extra
    return str(extra["allowed"]) if isinstance(extra, dict) else ""


def without_password(text: str) -> str:
    """Hide the password of a URL in a text."""
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", text)


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """Report INFERSCALE_* variables that no setting reads, a line each, with the nearest name."""
    known = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}
    lines = []
    for name in sorted(os.environ if environment is None else environment):
        if name.startswith(PREFIX) and not name.startswith(FOR_TESTS) and name not in known:
            near = get_close_matches(name, known, 1, 0.8)
            lines.append(f"{name} is not a setting" + (f": is {near[0]} meant?" if near else "."))
    return lines


def _explain(location: tuple[int | str, ...], value: object) -> str:
    name = str(location[0])
    field = Settings.model_fields.get(name)
    if field is None:
        return f"{name} is not a setting."
    secret = isinstance(field.default, SecretStr)
    shown = "***" if secret else without_password(str(value))
    return f"{PREFIX}{name.upper()}={shown} cannot work: allowed is {allowed_values(field)}."
