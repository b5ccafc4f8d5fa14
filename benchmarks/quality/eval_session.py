"""Session of an evaluation on LoCoMo: question selection, engine, provenance."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.composition import Progress
from app.hardware import hardware, versions
from app.models.dummy_model import kv_bytes_per_token
from app.models.engine_choice import (
    DTYPE_BYTES,
    MIB,
    build_engine,
    cache_dtype,
    engine_arguments,
    engine_dtype,
    start_engine,
)
from app.models.model_choice import choose_embedding_model, choose_model, config_of, stay_offline
from app.settings import Settings
from benchmarks.quality.arms.cases import ConversationCases, prepare, sample
from benchmarks.quality.arms.setups import Setup
from benchmarks.quality.datasets.locomo import LocomoConversation, LocomoQuestion, load, wrong_gold
from memory_engine.engines.base import Engine
from memory_engine.errors import SettingsError, UnsupportedModelError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.prompt.prompt_wording import fact_line
from memory_engine.retrieval.embedder import Embedder
from memory_engine.types import MemoryFact

QUESTIONS, QUESTIONS_CPU = 400, 12
_SPARE_MIB = 64  # of the arena, beyond what the facts need


@dataclass(frozen=True, slots=True)
class QuestionSelection:
    """Selection of questions: LoCoMo's file, ids of untrusted gold answers, limit and seed.

    limit: None for as many as suit this machine.
    """

    data: Path
    wrong: Path | None
    limit: int | None
    seed: int

    def questions(
        self, most_evidence: int
    ) -> list[tuple[LocomoConversation, list[LocomoQuestion]]]:
        """Draw the questions, by conversation, each with at most so many facts of evidence.

        Blocks.
        """
        default = QUESTIONS if hardware().gpu else QUESTIONS_CPU
        require_some(self.limit)
        limit = default if self.limit is None else self.limit
        bad = wrong_gold(self.wrong) if self.wrong else frozenset[str]()
        return sample(load(self.data), bad, most_evidence, limit, self.seed)


def require_some(limit: int | None) -> None:
    """Raise SettingsError if nothing would be left to measure."""
    if limit is not None and limit < 1:
        raise SettingsError("--limit must be 1 or more.")


async def prepare_conversations(
    settings: Settings, selection: QuestionSelection, setups: Sequence[Setup], progress: Progress
) -> list[ConversationCases]:
    """Select the questions, and rank the facts of their conversations by relevance."""
    stay_offline(settings)
    chosen = await asyncio.to_thread(selection.questions, min(setup.k for setup in setups))
    count = sum(len(questions) for _, questions in chosen)
    if not count:
        raise SettingsError(f"{selection.data} has no question whose evidence is among its facts.")
    progress(f"{count} questions of {len(chosen)} conversations")
    folder = await asyncio.to_thread(choose_embedding_model, settings)
    embedder = await asyncio.to_thread(Embedder, folder)
    try:
        return [await prepare(conversation, qs, embedder) for conversation, qs in chosen]
    finally:
        embedder.close()


@asynccontextmanager
async def serving_engine(
    settings: Settings, conversations: Sequence[ConversationCases], progress: Progress
) -> AsyncIterator[tuple[Engine, ChatTokenizer]]:
    """Run an engine whose arena holds any one conversation's facts; yield it and its tokenizer.

    Raises UnsupportedModelError if the gate refuses the model.
    """
    model = await asyncio.to_thread(choose_model, settings)
    tokenizer = await asyncio.to_thread(ChatTokenizer, model)
    config = await asyncio.to_thread(config_of, model)
    most = max(_tokens(tokenizer, conversation.facts) for conversation in conversations)
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
    """Size engine arguments with room for the KV of `tokens` tokens of facts."""
    arguments = engine_arguments(settings) | {"snapshot_folder": None, "owner_share": 1.0}
    a_token = kv_bytes_per_token(config, DTYPE_BYTES[cache_dtype(settings, config)])
    needed = tokens * a_token + _SPARE_MIB * MIB
    arguments["arena_bytes"] = max(arguments["arena_bytes"], needed)
    return arguments


def provenance(
    settings: Settings,
    engine: Engine,
    selection: QuestionSelection,
    conversations: Sequence[ConversationCases],
) -> dict[str, Any]:
    """Describe where a report comes from: model, hardware, versions, data."""
    return {
        "model": Path(engine.info.model).name,
        "device": engine.info.device,
        "dtype": engine_dtype(settings),
        "conformance": engine.conformance.checks,
        "hardware": hardware().as_json(),
        "versions": versions() | engine.info.versions,
        "data": selection.data.name,
        "wrong_gold_left_out": selection.wrong is not None,
        "n": sum(len(conversation.cases) for conversation in conversations),
        "seed": selection.seed,
    }


def _tokens(tokenizer: ChatTokenizer, facts: Sequence[MemoryFact]) -> int:
    return sum(len(tokenizer.encode(fact_line(fact))) for fact in facts)
