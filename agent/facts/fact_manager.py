"""Changes of facts by hand: SQL first, then the memory follows."""

from collections.abc import Sequence

from agent.conversations.conversation_store import ConversationStore
from agent.db.database import Database
from agent.entities import Fact
from agent.extraction.candidate import Candidate
from agent.facts.erasure_audit import Finding, audit_memory
from agent.facts.fact_store import FactStore
from agent.facts.forgetting import Forgetting
from agent.facts.memory_sync import MemorySync
from agent.facts.transfer.importer import Imported, import_facts
from agent.facts.undo import undo
from memory_engine.encoding.residency import Residency
from memory_engine.protocols import MemoryEngine
from memory_engine.types import EVERYWHERE, Scope


class FactManager:
    """Makes every change of facts that does not come out of a conversation."""

    def __init__(
        self, database: Database, facts: FactStore, memory: MemoryEngine, memory_sync: MemorySync
    ) -> None:
        self._database = database
        self._facts = facts
        self._conversations = ConversationStore(database)
        self._forgetting = Forgetting(database)
        self._memory = memory
        self._memory_sync = memory_sync

    async def add(
        self, owner: str, candidates: Sequence[Candidate], scope: Scope = EVERYWHERE
    ) -> list[Fact]:
        """Add facts that the user states by hand; recall sees them on return."""
        added = await self._facts.add(owner, candidates, scope)
        await self._memory_sync.ensure(owner)
        return added

    async def search(self, owner: str, query: str, k: int) -> list[tuple[Fact, float]]:
        """The facts of no scope most relevant to `query`, best first."""
        await self._memory_sync.ensure(owner)
        facts = {fact.id: fact for fact in await self._facts.active(owner)}
        found = await self._memory.retriever.recall(owner, query, k)
        return [(facts[r.fact.id], r.score) for r in found if r.fact.id in facts]

    async def edit(self, owner: str, fact_id: str, candidate: Candidate) -> Fact:
        """Change what a fact says, by hand; recall sees it on return."""
        edited = await self._facts.edit(owner, fact_id, candidate)
        await self._memory_sync.ensure(owner)
        return edited

    async def teach(
        self, owner: str, message: str, reply: str, candidates: Sequence[Candidate]
    ) -> str:
        """Add facts as what one message of a new conversation said; the conversation's id.

        They go when it is deleted.
        """
        turn = await self._conversations.add_message(owner, None, message, remember=True)
        await self._facts.learn(turn, candidates)
        await self._conversations.add_reply(turn, reply, "complete")
        await self._memory_sync.ensure(owner)
        return turn.conversation_id

    async def undo_exchange(self, owner: str, conversation_id: str) -> str:
        """Remove the last message of a conversation, its replies and what only it taught.

        Returns the message, when SQL, index and KV are rid of it.
        """
        message = await self._forgetting.exchange(owner, conversation_id)
        self._memory.forget_prompts(owner)
        await self._dropped(owner)
        return message

    async def residency(self, owner: str) -> Residency:
        """The tiers that hold the KV of the owner's facts."""
        await self._memory_sync.ensure(owner)
        return await self._memory.residency(owner)

    async def forget(self, owner: str, fact_ids: Sequence[str]) -> dict[str, str]:
        """Forget facts; returns when SQL, index and KV are rid of them.

        The result has the reasons for those that could not be forgotten, by id.
        """
        failed = await self._forgetting.facts(owner, fact_ids)
        await self._dropped(owner)
        return failed

    async def forget_conversation(self, owner: str, conversation_id: str) -> int:
        """Delete a conversation and the facts that were said in no other; return how many facts."""
        count = await self._forgetting.conversation(owner, conversation_id)
        self._memory.forget_prompts(owner)
        await self._dropped(owner)
        return count

    async def forget_everything(self, owner: str) -> int:
        """Delete a user with all that is known, said and computed; return how many facts."""
        count = await self._forgetting.everything(owner)
        await self._memory_sync.forget(owner)
        return count

    async def undo(self, owner: str, fact_id: str) -> list[Fact]:
        """Undo the last change of a fact; returns the facts that hold again."""
        restored = await undo(self._database, owner, fact_id)
        await self._memory_sync.ensure(owner)
        return restored

    async def import_facts(self, owner: str, document: str) -> Imported:
        """Import the facts of an export; recall sees them on return."""
        imported = await import_facts(self._database, owner, document)
        await self._memory_sync.ensure(owner)
        return imported

    async def audit(self, owner: str) -> list[Finding]:
        """Audit index and KV for what no fact of the user's needs."""
        await self._memory_sync.ensure(owner)
        await self._memory.settle(owner)
        return await audit_memory(self._database, self._memory, owner)

    async def _dropped(self, owner: str) -> None:
        await self._memory_sync.refresh(owner)
        await self._memory.settle(owner)
