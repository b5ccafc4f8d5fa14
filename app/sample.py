"""The sample person's facts in a newcomer's memory, marked so that they can be taken out again."""

from typing import TYPE_CHECKING

from app.demo import Person, sample_person
from memory_engine.errors import UserError

if TYPE_CHECKING:
    from app.service import ChatService

MESSAGE = "Let me try it with a sample person."
REPLY = "{count} facts of a sample person are known now. Delete this conversation to remove them."


async def load_sample(service: "ChatService", user: str) -> Person:
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
    """Forget what `load_sample` taught, with its conversation; how many facts."""
    forgotten = 0
    for conversation in await service.conversations(user, MESSAGE):
        messages = await service.messages(user, conversation.id)
        if messages and messages[0].content == MESSAGE:
            forgotten += await service.forget_conversation(user, conversation.id)
    return forgotten
