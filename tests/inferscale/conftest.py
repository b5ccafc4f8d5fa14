"""A stage on which two facts are known."""

from pathlib import Path

import pytest

from tests.inferscale.fake_stage import FakeStage


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeStage:
    made = FakeStage(monkeypatch, tmp_path)
    made.run("facts", "add", "--user", "ann", "My dog is called Biscuit.")
    made.run("facts", "add", "--user", "ann", "I ski in winter.")
    return made
