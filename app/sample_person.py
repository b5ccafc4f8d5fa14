"""Sample person: facts and questions, taught to a newcomer's memory and taken out again."""

import json
import re
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import TYPE_CHECKING

from memory_engine.errors import UserError

if TYPE_CHECKING:
    from app.service import ChatService

MESSAGE = "Let me try it with a sample person."
REPLY = "{count} facts of a sample person are known now. Delete this conversation to remove them."


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question and the word that a right answer contains."""

    question: str
    answer: str

    def answered_by(self, reply: str) -> bool:
        """True if the reply has the word, whole, in any case; its plural counts too."""
        whole = rf"(?<!\w){re.escape(self.answer)}(?:s|es)?(?!\w)"
        return re.search(whole, reply, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """A person to know: dated facts in time order, and questions about them."""

    user: str
    facts: tuple[tuple[str, date | None], ...]
    questions: tuple[SampleQuestion, ...]


def sample_person() -> SamplePerson:
    """Read the person that ships with the app."""
    data = json.loads((files("app") / "data" / "sample_person.json").read_text("utf-8"))
    return SamplePerson(
        user=data["user"],
        facts=tuple((f["text"], date.fromisoformat(f["when"])) for f in data["facts"]),
        questions=tuple(SampleQuestion(q["question"], q["answer"]) for q in data["questions"]),
    )


async def load_sample(service: "ChatService", user: str) -> SamplePerson:
    """Teach `user`'s memory the sample person; one conversation is their only source.

    Raises UserError where something is known already: a sample would replace it.
    """
    if await service.facts(user):
        raise UserError(
            "Something is known about you already, which a sample person would contradict. "
            "Forget it first, fact by fact or all at once."
        )
    person = sample_person()
    await service.teach(user, MESSAGE, REPLY.format(count=len(person.facts)), person.facts)
    return person


async def remove_sample(service: "ChatService", user: str) -> int:
    """Forget what `load_sample` taught, with its conversation; return the number of facts."""
    forgotten = 0
    for conversation in await service.conversations(user, MESSAGE):
        messages = await service.messages(user, conversation.id)
        if messages and messages[0].content == MESSAGE:
            forgotten += await service.forget_conversation(user, conversation.id)
    return forgotten
