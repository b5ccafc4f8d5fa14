"""Model choice: folders, hub ids, and messages when there is no model."""

import json
import os
from pathlib import Path

import pytest

from app.models.model_choice import choose_model, names_hub_model, stay_offline
from app.settings import Settings
from memory_engine.errors import ModelNotFoundError


def model_folder(folder: Path, config: object = None, weights: bool = True) -> Path:
    folder.mkdir()
    text = config if isinstance(config, str) else json.dumps(config or {"model_type": "llama"})
    (folder / "config.json").write_text(text)
    if weights:
        (folder / "model.safetensors").touch()
    return folder


def test_a_folder_with_a_model_is_taken(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    assert choose_model(Settings(model=str(folder))) == str(folder)


def test_a_missing_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="unset it for the bundled model"):
        choose_model(Settings(model=str(tmp_path / "nowhere")))


def test_a_folder_without_config_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"config\.json is missing"):
        choose_model(Settings(model=str(tmp_path)))


@pytest.mark.parametrize("config", ["{", "[]", {"hello": "world"}])
def test_a_config_that_describes_no_model_is_refused(tmp_path: Path, config: object) -> None:
    with pytest.raises(ModelNotFoundError, match=r"config\.json"):
        choose_model(Settings(model=str(model_folder(tmp_path / "model", config))))


def test_a_folder_without_weights_is_no_model(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model", weights=False)
    with pytest.raises(ModelNotFoundError, match="no weights"):
        choose_model(Settings(model=str(folder)))


def test_a_hub_id_is_told_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert names_hub_model("owner/name-1.5")
    assert not names_hub_model("./owner/name")
    assert not names_hub_model("name")
    (tmp_path / "owner" / "name").mkdir(parents=True)
    assert not names_hub_model("owner/name")


def test_the_hub_is_left_alone_unless_the_user_names_a_hub_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "environ", {})
    stay_offline(Settings(model="owner/name"))
    assert "HF_HUB_OFFLINE" not in os.environ
    stay_offline(Settings())
    assert os.environ["HF_HUB_OFFLINE"] == "1"
