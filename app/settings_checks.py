"""Types and checks of settings' values; a wrong value raises ValueError."""

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from limits import parse_many
from pydantic import AfterValidator, Field, SecretStr, StringConstraints

SHORTEST_KEY = 32  # characters


def setting(default: Any, description: str, allowed: str, **limits: Any) -> Any:
    """Declare a setting: default, description, allowed values in words, and pydantic's limits."""
    return Field(
        default,
        description=description,
        json_schema_extra={"allowed": allowed},
        validate_default=True,
        **limits,
    )


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


def _known_zone(name: str) -> str:
    if name:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError(name) from error
    return name


def _rates(text: str) -> str:
    if text:
        parse_many(text)
    return text


def _urls(text: str) -> str:
    for url in filter(None, text.split(",")):
        parts = urlsplit(url.strip())
        # `port` raises ValueError for what is no port.
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError(url)
    return text


def _long(key: SecretStr) -> SecretStr:
    if 0 < len(key.get_secret_value()) < SHORTEST_KEY:
        raise ValueError("too short")
    return key


Urls = Annotated[str, AfterValidator(_urls)]
Key = Annotated[SecretStr, AfterValidator(_long)]
RateLimits = Annotated[str, AfterValidator(_rates)]
Folder = Annotated[Path, AfterValidator(_absolute)]
Zone = Annotated[str, AfterValidator(_known_zone)]
Window = Annotated[str, StringConstraints(pattern=r"^(none|(facts|turns):[1-9][0-9]*)$")]
StoreDtype = Literal["auto", "fp8"]
