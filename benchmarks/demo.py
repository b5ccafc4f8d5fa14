"""Demo: a sample person, twenty questions, three arms (text, KV, and without memory).

Runs on a private database that is gone afterwards. Text and KV get the same token ids; the
modes take turns in going first; every request has a cache salt of its own, so text is
prefilled from nothing and KV comes from the arena. The first question is asked once
before counting, to warm up.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from agent.facts.fact_store import FactStore
from agent.facts.manual_facts import manual_candidate
from agent.reply_events import Reply
from app.comparison import cold, last_reply
from app.composition import Progress, migrate_database, open_database, running_service
from app.figures import speedup, spread
from app.sample_person import SamplePerson, SampleQuestion, sample_person
from app.settings import DATABASE_FILE, Settings
from memory_engine.engines.base import Engine
from memory_engine.errors import UnsupportedModelError
from memory_engine.types import Mode

if TYPE_CHECKING:
    from app.service import ChatService

ARMS = ("text", "kv", "none")
MAX_TOKENS = 48  # an answer is one sentence


@dataclass(slots=True)
class DemoAnswer:
    """The replies to one question, by arm."""

    question: SampleQuestion
    replies: dict[str, Reply] = field(default_factory=dict)

    def right(self, arm: str) -> bool:
        """True if the arm's reply has the answer's word."""
        return self.question.answered_by(self.replies[arm].reply)


async def demo(
    settings: Settings, progress: Progress, engine: Engine | None = None
) -> list[DemoAnswer]:
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
    service: "ChatService", person: SamplePerson, progress: Progress
) -> list[DemoAnswer]:
    """Ask all questions in all arms. Raises UnsupportedModelError when the model is refused."""
    if not service.kv_available:
        raise UnsupportedModelError(f"The demo compares text and KV: {service.kv_refusal}")
    progress(f"Encoding {len(person.facts)} facts ...")
    await service.settle(person.user)
    await _ask(service, person.user, person.questions[0], ARMS)
    answers = []
    for number, question in enumerate(person.questions):
        progress(f"Question {number + 1} of {len(person.questions)}: {question.question}")
        arms = ARMS[number % 3 :] + ARMS[: number % 3]
        answers.append(await _ask(service, person.user, question, arms))
    return answers


async def _teach(settings: Settings, person: SamplePerson) -> None:
    database = await open_database(settings)
    try:
        candidates = [manual_candidate(text).dated(when, None) for text, when in person.facts]
        await FactStore(database).add(person.user, candidates)
    finally:
        await database.aclose()


async def _ask(
    service: "ChatService", user: str, question: SampleQuestion, arms: Sequence[str]
) -> DemoAnswer:
    answers = DemoAnswer(question)
    for arm in arms:
        answers.replies[arm] = await last_reply(
            service.reply(
                user=user,
                message=question.question,
                mode=Mode.KV if arm == "kv" else Mode.TEXT,
                k=0 if arm == "none" else None,
                remember=False,
                sampling=cold(MAX_TOKENS),
            )
        )
    return answers


def report(answers: Sequence[DemoAnswer]) -> dict[str, Any]:
    """Summarise a demo, ready for JSON. Token counts are medians over the KV replies."""
    times = {arm: [each.replies[arm].ttft_ms for each in answers] for arm in ARMS}
    kv = [each.replies["kv"] for each in answers]
    return {
        "n": len(answers),
        "correct": {arm: sum(each.right(arm) for each in answers) for arm in ARMS},
        "same_reply": sum(e.replies["text"].reply == e.replies["kv"].reply for e in answers),
        "ttft_ms": {arm: spread(times[arm]) for arm in ARMS},
        "speedup": speedup(times["text"], times["kv"]),
        "injected_tokens": median(reply.injected_tokens for reply in kv),
        "prefilled_tokens": median(reply.prefilled_tokens for reply in kv),
        "prompt_tokens": median(reply.prompt_tokens for reply in kv),
    }
