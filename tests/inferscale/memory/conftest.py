"""An empty data folder of the command line."""

from pathlib import Path

import pytest

from app.settings import PREFIX, Settings


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in Settings.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)
    monkeypatch.setenv("INFERSCALE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"
