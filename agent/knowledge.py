"""What is known, changed by hand: SQL first, then the memory follows."""

from collections.abc import Sequence

from agent.audit import Finding, audit_memory
from agent.candidate import Candidate
from agent.database import Database
from agent.facts import FactStore
from agent.forgetting import Forgetting
from agent.holding import Holding
from agent.importing import Imported, import_facts
from agent.records import EVERYWHERE, Fact, Scope
from agent.undo import undo
from memory_engine.memory import Memory


class Knowledge:
    """Every change of facts that does not come out of a conversation."""

    def __init__(
        self, database: Database, facts: FactStore, memory: Memory, holding: Holding
    ) -> None:
        self._database = database
        self._facts = facts
        self._forgetting = Forgetting(database)
        self._memory = memory
        self._holding = holding

    async def add(
        self, owner: str, candidates: Sequence[Candidate], scope: Scope = EVERYWHERE
    ) -> list[Fact]:
        """Add facts that the user states by hand; recall sees them on return."""
        added = await self._facts.add(owner, candidates, scope)
        await self._holding.ensure(owner)
        return added

    async def forget(self, owner: str, fact_ids: Sequence[str]) -> dict[str, str]:
        """Forget facts; returns when SQL, index and KV are rid of them.

        The result has the reasons for those that could not be forgotten, by id.
        """
        failed = await self._forgetting.facts(owner, fact_ids)
        await self._dropped(owner)
        return failed

    async def forget_conversation(self, owner: str, conversation_id: str) -> int:
        """Delete a conversation and the facts that were said in no other; how many facts."""
        count = await self._forgetting.conversation(owner, conversation_id)
        self._memory.forget_prompts(owner)
        await self._dropped(owner)
        return count

    async def forget_everything(self, owner: str) -> int:
        """Delete a user with all that is known, said and computed; how many facts."""
        count = await self._forgetting.everything(owner)
        await self._holding.forget(owner)
        return count

    async def undo(self, owner: str, fact_id: str) -> list[Fact]:
        """Undo the last change of a fact; returns the facts that hold again."""
        restored = await undo(self._database, owner, fact_id)
        await self._holding.ensure(owner)
        return restored

    async def import_facts(self, owner: str, document: str) -> Imported:
        """Take in what an export holds; recall sees it on return."""
        imported = await import_facts(self._database, owner, document)
        await self._holding.ensure(owner)
        return imported

    async def audit(self, owner: str) -> list[Finding]:
        """What index and KV hold that no fact of the user's needs."""
        await self._holding.ensure(owner)
        await self._memory.settle(owner)
        return await audit_memory(self._database, self._memory, owner)

    async def _dropped(self, owner: str) -> None:
        await self._holding.refresh(owner)
        await self._memory.settle(owner)
