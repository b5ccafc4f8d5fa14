"""The panel of what is known about the user: list, add, forget."""

from collections.abc import AsyncGenerator

from app.service import ChatService, Fact
from memory_engine.errors import UserError
from ui.pane import Changes
from ui.states import notice
from ui.text import as_html, counted, day


class Facts:
    """The facts of `user`."""

    def __init__(self, service: ChatService, user: str) -> None:
        self._service = service
        self._user = user

    async def listed(self) -> Changes:
        """Every active fact, newest first."""
        return {"facts": _list(await self._service.facts(self._user))}

    async def remembered(self) -> Changes:
        """The list once the last turn has been remembered."""
        await self._service.settle(self._user)
        return await self.listed()

    async def add(self, text: str) -> Changes:
        """Remember `text`; a text that cannot be remembered stays in its box."""
        try:
            await self._service.add_fact(self._user, text)
        except UserError as error:
            return {"facts_notice": notice(str(error))}
        return {"new_fact": "", "facts_notice": "", **await self.listed()}

    async def forget(self, fact_id: str) -> AsyncGenerator[Changes, None]:
        """Forget one fact everywhere; it leaves the list when that is done."""
        yield {"facts_notice": '<p class="quiet" role="status">Forgetting…</p>'}
        try:
            await self._service.forget_fact(self._user, fact_id)
            said = ""
        except UserError as error:
            said = notice(str(error))
        except Exception:
            yield {"facts_notice": "", **await self.listed()}
            raise
        yield {"facts_notice": said, **await self.listed()}


def _list(facts: list[Fact]) -> str:
    if not facts:
        return '<p class="quiet">Nothing yet. Tell me something about yourself.</p>'
    rows = "".join(_row(fact) for fact in reversed(facts))
    return (
        f'<p class="quiet" role="status">{counted(len(facts), "fact")}</p>'
        f'<ul class="rows facts">{rows}</ul>'
    )


def _row(fact: Fact) -> str:
    text, fact_id = as_html(fact.text), as_html(fact.id)
    return (
        f'<li><span class="title">{text}</span>'
        f'<span class="quiet">{day(fact.when)}</span>'
        f'<details><summary aria-label="Forget: {text}">Forget</summary>'
        '<span class="sure">Forget this for good?</span>'
        f'<button type="button" data-id="{fact_id}">Yes, forget</button></details></li>'
    )
