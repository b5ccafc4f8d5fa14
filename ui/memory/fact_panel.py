"""Handlers of the fact list: find, add, edit, forget and undo facts."""

from collections.abc import AsyncGenerator

from app.public_errors import public_message
from app.service import ChatService
from memory_engine.errors import NotFoundError, UserError
from ui.memory.fact_list import OpenFact, facts_list, past_list, whereabouts
from ui.parts.page_states import Changes, error_message, status_message
from ui.parts.row_events import Click


class FactPanel:
    """Handlers of the facts of `user`. A browser looks at `search` and `opened`, a fact's id."""

    def __init__(self, service: ChatService, user: str) -> None:
        self._service = service
        self._user = user

    async def listed(self, search: str = "", opened: str | None = None) -> Changes:
        """List every active fact that has the words of `search`, newest first."""
        facts = await self._service.facts(self._user)
        looked_at = await self._looked_at(opened) if opened is not None else None
        return {
            "facts": facts_list(facts, search, looked_at),
            "opened": opened if looked_at else None,
        }

    async def remembered(self, search: str, opened: str | None) -> Changes:
        """List the facts once the last turn has been remembered."""
        await self._service.settle(self._user)
        return await self.listed(search, opened)

    async def past(self, search: str, wanted: bool) -> Changes:
        """List the facts that held once, where that is `wanted`."""
        if not wanted:
            return {"past_facts": ""}
        document = await self._service.export_facts(self._user)
        return {"past_facts": past_list(document.facts, search)}

    async def add(self, text: str, search: str, opened: str | None) -> Changes:
        """Remember `text`; a text that cannot be remembered stays in its box."""
        try:
            await self._service.add_fact(self._user, text)
        except UserError as error:
            return {"facts_notice": error_message(public_message(error))}
        return {"new_fact": "", "facts_notice": "", **await self.listed(search, opened)}

    async def act(
        self, click: dict[str, str], search: str, opened: str | None
    ) -> AsyncGenerator[Changes, None]:
        """Do what a click on a row asks for."""
        wanted = Click(**click)
        if wanted.act == "forget":
            yield {"facts_notice": status_message("Forgetting…")}
        try:
            opened, message = await self._done(wanted, opened)
        except UserError as error:
            message = error_message(public_message(error))
        except Exception:
            yield {"facts_notice": "", **await self.listed(search, opened)}
            raise
        yield {"facts_notice": message, **await self.listed(search, opened)}

    async def _looked_at(self, fact_id: str) -> OpenFact | None:
        try:
            fact = await self._service.fact(self._user, fact_id)
        except NotFoundError:
            return None  # forgotten meanwhile
        where = whereabouts(fact_id, await self._service.residency(self._user))
        events = await self._service.history(self._user)
        before = [e.text for e in events if e.superseded_by == fact_id and e.text is not None]
        return OpenFact(fact, where, tuple(before))

    async def _done(self, click: Click, opened: str | None) -> tuple[str | None, str]:
        """Carry out a click; the fact that is open then, and what to say."""
        if click.act == "show":
            return click.id, ""
        if click.act == "edit":
            fact = await self._service.edit_fact(self._user, click.id, click.text)
            return fact.id, status_message("Saved. What it said before is in the history.")
        if click.act == "undo":
            restored = await self._service.undo(self._user, click.id)
            return restored[0].id if restored else None, status_message("Undone.")
        if click.act == "forget":
            await self._service.forget_fact(self._user, click.id)
            return None if opened == click.id else opened, ""
        return None, ""
