"""A sample person, twenty questions, three ways to answer: text, KV and without memory.

Runs on a private database that is gone afterwards. Text and KV get the same token ids; the
modes take turns in going first; every request has a cache salt of its own, so text is
prefilled from nothing and KV comes from the arena. The first question is asked once
before counting, to warm up.
"""

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from agent.facts.fact_store import FactStore
from agent.facts.manual_facts import manual_candidate
from agent.reply_events import Reply
from app.comparison import cold, last_reply
from app.composition import migrate_database, open_database, running_service
from app.figures import speedup, spread
from app.settings import DATABASE_FILE, Settings
from memory_engine.engines.base import Engine
from memory_engine.errors import UnsupportedModelError
from memory_engine.types import Mode

if TYPE_CHECKING:
    from app.service import ChatService

WAYS = ("text", "kv", "none")
MAX_TOKENS = 48  # an answer is one sentence


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the word that a right answer contains."""

    question: str
    answer: str

    def answered_by(self, reply: str) -> bool:
        """Whether the reply has the word, whole, in any case; its plural counts too."""
        whole = rf"(?<!\w){re.escape(self.answer)}(?:s|es)?(?!\w)"
        return re.search(whole, reply, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class Person:
    """Someone to know: dated facts in time order, and questions about them."""

    user: str
    facts: tuple[tuple[str, date | None], ...]
    questions: tuple[Question, ...]


def sample_person() -> Person:
    """The person that ships with the app."""
    data = json.loads((files("app") / "data" / "sample_person.json").read_text("utf-8"))
    return Person(
        user=data["user"],
        facts=tuple((f["text"], date.fromisoformat(f["when"])) for f in data["facts"]),
        questions=tuple(Question(q["question"], q["answer"]) for q in data["questions"]),
    )


@dataclass(slots=True)
class Answers:
    """The replies of one question, by way."""

    question: Question
    replies: dict[str, Reply] = field(default_factory=dict)

    def right(self, way: str) -> bool:
        return self.question.answered_by(self.replies[way].reply)


async def demo(
    settings: Settings, progress: Callable[[str], None], engine: Engine | None = None
) -> list[Answers]:
    """Teach the sample person's facts to a private memory and ask every question."""
    person = sample_person()
    with tempfile.TemporaryDirectory(prefix="inferscale-demo-") as folder:
        private = settings.model_copy(
            update={"database_url": f"sqlite+aiosqlite:///{Path(folder) / DATABASE_FILE}"}
        )
        await migrate_database(private)
        await _teach(private, person)
        async with running_service(private, engine=engine, progress=progress) as service:
            return await ask_all(service, person, progress)


async def ask_all(
    service: "ChatService", person: Person, progress: Callable[[str], None]
) -> list[Answers]:
    """All questions in all ways. Raises UnsupportedModelError when the model is refused."""
    if not service.kv_available:
        raise UnsupportedModelError(f"The demo compares text and KV: {service.kv_refusal}")
    progress(f"Encoding {len(person.facts)} facts ...")
    await service.settle(person.user)
    await _ask(service, person.user, person.questions[0], WAYS)
    answers = []
    for number, question in enumerate(person.questions):
        progress(f"Question {number + 1} of {len(person.questions)}: {question.question}")
        ways = WAYS[number % 3 :] + WAYS[: number % 3]
        answers.append(await _ask(service, person.user, question, ways))
    return answers


async def _teach(settings: Settings, person: Person) -> None:
    database = await open_database(settings)
    try:
        candidates = [manual_candidate(text).dated(when, None) for text, when in person.facts]
        await FactStore(database).add(person.user, candidates)
    finally:
        await database.aclose()


async def _ask(
    service: "ChatService", user: str, question: Question, ways: Sequence[str]
) -> Answers:
    answers = Answers(question)
    for way in ways:
        answers.replies[way] = await last_reply(
            service.reply(
                user=user,
                message=question.question,
                mode=Mode.KV if way == "kv" else Mode.TEXT,
                k=0 if way == "none" else None,
                remember=False,
                sampling=cold(MAX_TOKENS),
            )
        )
    return answers


def report(answers: Sequence[Answers]) -> dict[str, Any]:
    """The figures of a demo, ready for JSON. Token counts are medians over the KV replies."""
    times = {way: [each.replies[way].ttft_ms for each in answers] for way in WAYS}
    kv = [each.replies["kv"] for each in answers]
    return {
        "n": len(answers),
        "correct": {way: sum(each.right(way) for each in answers) for way in WAYS},
        "same_reply": sum(e.replies["text"].reply == e.replies["kv"].reply for e in answers),
        "ttft_ms": {way: spread(times[way]) for way in WAYS},
        "speedup": speedup(times["text"], times["kv"]),
        "injected_tokens": median(reply.injected_tokens for reply in kv),
        "prefilled_tokens": median(reply.prefilled_tokens for reply in kv),
        "prompt_tokens": median(reply.prompt_tokens for reply in kv),
    }
