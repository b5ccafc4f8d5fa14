"""The command line over the real memory and the bundled models; only vLLM is left out."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.sample_person import sample_person
from inferscale.commands import app
from memory_engine.engines.fake import FakeEngine
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import Prompt


def test_ask_recalls_the_right_fact_out_of_fifty_and_injects(
    bundled_llm: Path, bundled_embedder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tokenizer = ChatTokenizer(bundled_llm)

    def what_it_reads(prompt: Prompt) -> str:
        return tokenizer.decode(prompt.token_ids)

    monkeypatch.setattr("app.composition.build_engine", lambda *_: FakeEngine(what_it_reads))
    monkeypatch.setenv("INFERSCALE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("INFERSCALE_MODEL", str(bundled_llm))
    monkeypatch.setenv("INFERSCALE_EMBEDDING_MODEL", str(bundled_embedder))
    monkeypatch.setenv("INFERSCALE_EXTRACTOR", "rules")
    monkeypatch.setenv("INFERSCALE_MAX_TOKENS", "2000")
    facts = [text for text, _ in sample_person().facts]
    taught = CliRunner().invoke(app, ["facts", "add", "--user", "ann", *facts])
    assert taught.exit_code == 0, taught.stderr

    arguments = ["ask", "--user", "ann", "--k", "10", "--json", "What is the name of my cat?"]
    result = CliRunner().invoke(app, arguments)

    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert "Waffles" in answer["reply"], "the prompt holds the fact"
    assert len(answer["facts"]) == 10
    assert answer["injected_tokens"] > answer["prompt_tokens"] / 2
    best = max(answer["facts"], key=lambda fact: fact["score"])
    assert "Waffles" in best["text"]
    assert not best["injected"], "the most relevant facts are sent as text"
