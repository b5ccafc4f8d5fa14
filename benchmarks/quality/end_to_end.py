"""End-to-end evaluation by the product's own way: said, extracted, recalled, answered.

Every speaker is a user of their own, whose turns are said to a private database on the day of
their session, after "My name is ...". The service remembers them as it remembers any turns an
earlier process left behind, and then is asked about that speaker: without facts, and with the
recalled facts as text and as KV on the same token ids.
"""

import asyncio
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import update

from agent.conversations.conversation_store import ConversationStore
from agent.db.database import Database
from agent.db.tables import TurnRow
from agent.reply_events import Reply
from app.comparison import cold, last_reply
from app.composition import Progress, migrate_database, open_database, running_service
from app.hardware import hardware, versions
from app.settings import DATABASE_FILE, Settings
from benchmarks.quality.datasets.locomo import LocomoConversation, LocomoQuestion
from benchmarks.quality.eval_session import QuestionSelection
from benchmarks.quality.intervals import mean_of
from benchmarks.quality.token_f1 import answer_f1
from memory_engine.engines.base import Engine
from memory_engine.errors import UnsupportedModelError
from memory_engine.types import Mode

if TYPE_CHECKING:
    from app.service import ChatService

ARMS = ("none", "text", "kv")
REPLY_TOKENS = 32
INSTRUCTION = " Answer in a few words."
_IN_FLIGHT = 32  # questions, on a GPU


@dataclass(frozen=True, slots=True)
class Speaker:
    """A user, their turns with times, and the questions about them alone."""

    user: str
    said: tuple[tuple[datetime, str], ...]
    questions: tuple[LocomoQuestion, ...]


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """The replies to one question, by arm."""

    question: LocomoQuestion
    replies: dict[str, Reply]

    def f1(self, arm: str) -> float:
        """Token F1 of the arm's reply."""
        return answer_f1(self.replies[arm].reply, self.question.answer, self.question.category)


def speakers(
    conversation: LocomoConversation, questions: Sequence[LocomoQuestion]
) -> list[Speaker]:
    """Find the speakers whom a question names alone; a question that names both is left out."""
    found = []
    for name in conversation.speakers:
        (other,) = (each for each in conversation.speakers if each != name)
        of_name = [q for q in questions if _names(q, name) and not _names(q, other)]
        turns = [(t.said_at, t.text) for t in conversation.turns if t.speaker == name and t.text]
        if of_name:
            introduced = (turns[0][0], f"My name is {name}.")
            found.append(Speaker(f"{conversation.id} {name}", (introduced, *turns), tuple(of_name)))
    return found


async def run_end_to_end(
    settings: Settings,
    selection: QuestionSelection,
    progress: Progress,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Run the evaluation from start to end. `engine` (not started) replaces embedded vLLM.

    Raises UnsupportedModelError when the gate refuses the model.
    """
    started = perf_counter()
    chosen = await asyncio.to_thread(selection.questions, settings.recall_k)
    users = [each for conversation, qs in chosen for each in speakers(conversation, qs)]
    with tempfile.TemporaryDirectory(prefix="inferscale-eval-") as folder:
        url = f"sqlite+aiosqlite:///{Path(folder) / DATABASE_FILE}"
        private = settings.model_copy(update={"database_url": url, "snapshot_mib": 0})
        await migrate_database(private)
        turns = await _say(private, users)
        async with running_service(private, engine=engine, progress=progress) as service:
            if not service.kv_available:
                raise UnsupportedModelError(f"There is nothing to compare: {service.kv_refusal}")
            remembering = perf_counter()
            facts = {user.user: await _remembered(service, user, progress) for user in users}
            remembered = perf_counter() - remembering
            answered = [each for user in users for each in await _ask(service, user, progress)]
    return {
        "model": Path(settings.model).name or "bundled",
        "dtype": settings.dtype,
        "data": selection.data.name,
        "seed": selection.seed,
        "hardware": hardware().as_json(),
        "versions": versions(),
        "turns": turns,
        "facts": facts,
        "remember_seconds": round(remembered, 1),
        "k": settings.recall_k,
        "reply_tokens": REPLY_TOKENS,
        "instruction": INSTRUCTION.strip(),
        "seconds": round(perf_counter() - started, 1),
    } | figures(answered, selection.seed)


def figures(answered: Sequence[AnsweredQuestion], seed: int) -> dict[str, Any]:
    """Summarise F1 by arm, and injected facts and tokens; the interval resamples questions."""
    scores = {arm: [each.f1(arm) for each in answered] for arm in ARMS}
    kv = [each.replies["kv"] for each in answered]
    differences = [a - b for a, b in zip(scores["kv"], scores["text"], strict=True)]
    return {
        "n": len(answered),
        "f1": {arm: mean_of(values, seed) for arm, values in scores.items()},
        "kv_over_text": mean_of(differences, seed),
        "same_reply": round(
            mean(e.replies["kv"].reply == e.replies["text"].reply for e in answered), 4
        ),
        "facts_used": round(mean(len(reply.facts) for reply in kv), 1),
        "injected_facts": round(mean(sum(f.injected for f in reply.facts) for reply in kv), 1),
        "prompt_tokens": round(mean(reply.prompt_tokens for reply in kv), 1),
        "injected_tokens": round(mean(reply.injected_tokens for reply in kv), 1),
    }


def _names(question: LocomoQuestion, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", question.text) is not None


async def _say(settings: Settings, users: Sequence[Speaker]) -> int:
    """Store all turns, each on its day, as turns that are still to be remembered."""
    database = await open_database(settings)
    try:
        for user in users:
            await _say_all(database, user)
    finally:
        await database.aclose()
    return sum(len(user.said) for user in users)


async def _say_all(database: Database, user: Speaker) -> None:
    transcript, conversation = ConversationStore(database), None
    for said_at, text in user.said:
        turn = await transcript.add_message(user.user, conversation, text, remember=True)
        conversation = turn.conversation_id
        async with database.write() as session:
            then = said_at.replace(tzinfo=UTC)
            await session.execute(
                update(TurnRow).where(TurnRow.id == turn.id).values(created_at=then)
            )


async def _remembered(service: "ChatService", user: Speaker, progress: Progress) -> int:
    progress(f"{user.user}: remembering {len(user.said)} turns")
    await service.settle(user.user)
    return len(await service.facts(user.user))


async def _ask(service: "ChatService", user: Speaker, progress: Progress) -> list[AnsweredQuestion]:
    progress(f"{user.user}: {len(user.questions)} questions")
    turns = asyncio.Semaphore(_IN_FLIGHT if hardware().gpu else 1)

    async def one(question: LocomoQuestion) -> AnsweredQuestion:
        async with turns:
            replies = {arm: await _answer(service, user.user, question, arm) for arm in ARMS}
        return AnsweredQuestion(question, replies)

    return await asyncio.gather(*map(one, user.questions))


async def _answer(service: "ChatService", user: str, question: LocomoQuestion, arm: str) -> Reply:
    return await last_reply(
        service.reply(
            user=user,
            message=question.text + INSTRUCTION,
            mode=Mode.KV if arm == "kv" else Mode.TEXT,
            k=0 if arm == "none" else None,
            remember=False,
            sampling=cold(REPLY_TOKENS),
        )
    )
