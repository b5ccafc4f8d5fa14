"""An evaluation on LoCoMo from start to end: questions, engine, report."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.hardware import hardware, versions
from app.models.dummy_model import kv_bytes_per_token
from app.models.engine_choice import (
    BYTES,
    MIB,
    build_engine,
    cache_dtype,
    engine_arguments,
    engine_dtype,
    start_engine,
)
from app.models.model_choice import choose_embedding_model, choose_model, config_of, stay_offline
from app.settings import Settings
from benchmarks.quality.arms.cases import Talk, prepare, sample
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.datasets.locomo import Conversation, Question, load, wrong_gold
from memory_engine.engines.base import Engine
from memory_engine.errors import SettingsError, UnsupportedModelError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.prompt.prompt_wording import fact_line
from memory_engine.retrieval.embedder import Embedder
from memory_engine.types import MemoryFact

Progress = Callable[[str], None]

QUESTIONS, QUESTIONS_CPU = 400, 12
_SPARE_MIB = 64  # of the arena, beyond what the facts need


@dataclass(frozen=True, slots=True)
class Asked:
    """What to ask: LoCoMo's file, which gold answers not to trust, and how many questions.

    limit: None for as many as suit this machine.
    """

    data: Path
    wrong: Path | None
    limit: int | None
    seed: int

    def questions(self, most_evidence: int) -> list[tuple[Conversation, list[Question]]]:
        """By conversation; each with at most so many facts of evidence. Blocks."""
        default = QUESTIONS if hardware().gpu else QUESTIONS_CPU
        require_some(self.limit)
        limit = default if self.limit is None else self.limit
        bad = wrong_gold(self.wrong) if self.wrong else frozenset[str]()
        return sample(load(self.data), bad, most_evidence, limit, self.seed)


def require_some(limit: int | None) -> None:
    """Raise SettingsError if nothing would be left to measure."""
    if limit is not None and limit < 1:
        raise SettingsError("--limit must be 1 or more.")


async def prepared(
    settings: Settings, asked: Asked, setups: Sequence[Setup], progress: Progress
) -> list[Talk]:
    """The questions, with the facts of their conversations in order of relevance."""
    stay_offline(settings)
    chosen = await asyncio.to_thread(asked.questions, min(setup.k for setup in setups))
    count = sum(len(questions) for _, questions in chosen)
    if not count:
        raise SettingsError(f"{asked.data} has no question whose evidence is among its facts.")
    progress(f"{count} questions of {len(chosen)} conversations")
    folder = await asyncio.to_thread(choose_embedding_model, settings)
    embedder = await asyncio.to_thread(Embedder, folder)
    try:
        return [await prepare(conversation, qs, embedder) for conversation, qs in chosen]
    finally:
        embedder.close()


@asynccontextmanager
async def served(
    settings: Settings, talks: Sequence[Talk], progress: Progress
) -> AsyncIterator[tuple[Engine, ChatTokenizer]]:
    """A started engine whose arena holds any one conversation's facts, and its tokenizer.

    Raises UnsupportedModelError if the gate refuses the model.
    """
    model = await asyncio.to_thread(choose_model, settings)
    tokenizer = await asyncio.to_thread(ChatTokenizer, model)
    config = await asyncio.to_thread(config_of, model)
    most = max(_tokens(tokenizer, talk.facts) for talk in talks)
    arguments = sized_arguments(settings, config, most)
    progress(f"Loading {Path(model).name}, KV stored as {settings.store_dtype} ...")
    engine = await asyncio.to_thread(build_engine, model, arguments)
    try:
        await start_engine(engine)
        if not engine.conformance.supported:
            raise UnsupportedModelError(f"There is nothing to compare: {engine.conformance.reason}")
        yield engine, tokenizer
    finally:
        await engine.aclose()


def sized_arguments(settings: Settings, config: dict[str, Any], tokens: int) -> dict[str, Any]:
    """Engine arguments with room for the KV of `tokens` tokens of facts."""
    arguments = engine_arguments(settings) | {"snapshot_folder": None, "owner_share": 1.0}
    a_token = kv_bytes_per_token(config, BYTES[cache_dtype(settings, config)])
    needed = tokens * a_token + _SPARE_MIB * MIB
    arguments["arena_bytes"] = max(arguments["arena_bytes"], needed)
    return arguments


def about(
    settings: Settings, engine: Engine, asked: Asked, talks: Sequence[Talk]
) -> dict[str, Any]:
    """What a report says of where it comes from."""
    return {
        "model": Path(engine.info.model).name,
        "device": engine.info.device,
        "dtype": engine_dtype(settings),
        "conformance": engine.conformance.checks,
        "hardware": hardware().as_json(),
        "versions": versions() | engine.info.versions,
        "data": asked.data.name,
        "wrong_gold_left_out": asked.wrong is not None,
        "n": sum(len(talk.cases) for talk in talks),
        "seed": asked.seed,
    }


def _tokens(tokenizer: ChatTokenizer, facts: Sequence[MemoryFact]) -> int:
    return sum(len(tokenizer.encode(fact_line(fact))) for fact in facts)
