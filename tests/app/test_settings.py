"""Settings: defaults, bad values, unknown variables, secrets."""

from datetime import datetime

import pytest
from pydantic import ValidationError

from app.settings import PREFIX, Settings, load_settings, unknown_variables, without_password
from inferscale.settings_table import _shown
from memory_engine.errors import SettingsError


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)


def test_every_setting_says_what_it_does_and_what_is_allowed() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert isinstance(field.json_schema_extra, dict), name
        assert field.json_schema_extra["allowed"], name


def test_the_environment_sets_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_PORT", "8000")
    assert load_settings().port == 8000


def test_a_given_value_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_PORT", "8000")
    assert load_settings(port=9000, host=None).port == 9000


def test_an_empty_variable_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_PORT", "")
    assert load_settings().port == 7860


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("PORT", "http", "a whole number from 0 to 65535"),
        ("PORT", "70000", "a whole number from 0 to 65535"),
        ("WINDOW", "facts:0", "none, facts:N or turns:N"),
        ("TAIL", "-1", "a whole number of 0 or more"),
        ("EXTRACTOR", "magic", "auto, rules or model"),
        ("DTYPE", "int4", "float32"),
        ("USER", "   ", "any name that is not blank"),
        ("DATABASE_URL", "mysql://host/db", "sqlite+aiosqlite:///path"),
        ("ENGINES", "http://a:8001,b:8001", "URLs such as http://10.0.0.5:8001"),
        ("ENGINES", "http://a:port", "separated by commas"),
        ("ROUTER", "redis://a", "a URL such as"),
    ],
)
def test_a_wrong_value_is_named_with_its_key_and_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    monkeypatch.setenv(PREFIX + name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert f"INFERSCALE_{name}={value} cannot work" in str(caught.value)
    assert allowed in str(caught.value)


def test_all_wrong_values_are_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(port=-1, tail=-1)
    assert "INFERSCALE_PORT=-1" in str(caught.value)
    assert "INFERSCALE_TAIL=-1" in str(caught.value)


def test_a_misspelt_variable_is_reported_with_the_nearest_name() -> None:
    lines = unknown_variables({"INFERSCALE_MODLE": "x", "PATH": "", "INFERSCALE_PORT": "1"})
    assert lines == ["INFERSCALE_MODLE is not a setting: is INFERSCALE_MODEL meant?"]


def test_a_rate_limit_is_checked_before_anything_is_loaded() -> None:
    assert load_settings(rate_limit="5/second; 1000/day").rate_limit
    with pytest.raises(SettingsError, match="INFERSCALE_RATE_LIMIT=many cannot work"):
        load_settings(rate_limit="many")


def test_settings_cannot_be_changed() -> None:
    settings = load_settings()
    with pytest.raises(ValidationError, match="frozen"):
        settings.port = 1  # type: ignore[misc]


def test_the_database_lies_in_the_data_folder_by_default() -> None:
    settings = load_settings(data_dir="~/somewhere")
    assert settings.database.startswith("sqlite+aiosqlite:////")
    assert settings.database.endswith("/somewhere/inferscale.db")


def test_a_password_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert without_password("postgresql://me:secret@host/db") == "postgresql://me:***@host/db"
    monkeypatch.setenv("INFERSCALE_DATABASE_URL", "oracle://me:secret@host/db")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert "secret" not in str(caught.value)


def test_the_time_zone_is_a_name_or_this_machines() -> None:
    assert str(load_settings(timezone="Europe/Berlin").zone) == "Europe/Berlin"
    assert load_settings().zone.utcoffset(datetime.now()) is not None
    with pytest.raises(SettingsError, match="INFERSCALE_TIMEZONE=Mars/Olympus cannot work"):
        load_settings(timezone="Mars/Olympus")


def test_the_signing_key_is_long_and_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSCALE_SIGNING_KEY", "short-secret")
    with pytest.raises(SettingsError, match="32 characters") as caught:
        load_settings()
    assert "short-secret" not in str(caught.value)
    monkeypatch.setenv("INFERSCALE_SIGNING_KEY", "long-secret" * 3)
    settings = load_settings()
    assert settings.signing_key.get_secret_value() == "long-secret" * 3
    assert "long-secret" not in str(settings) + repr(settings)
    assert "long-secret" not in str(_shown(settings, "signing_key"))
