"""Memory as a whole: where it is, in and out of a file, a sample, and an end to all of it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

from agent.facts.erasure_audit import Finding
from app.public_errors import told
from app.sample import load_sample, remove_sample
from app.service import ChatService
from memory_engine.encoding.residency import Residency, Tier
from memory_engine.errors import UserError
from ui.chat.pane import Changes
from ui.parts.escaping import as_html, counted, size
from ui.parts.page_states import notice, said

CONFIRMATION = "forget everything"


class BulkPanel:
    """The memory of `user`. `leave` shows an empty page in a browser tab.

    Where it is `shared`, the server has other users, whose share of the space is not shown.
    """

    def __init__(
        self,
        service: ChatService,
        user: str,
        leave: Callable[[str], Awaitable[Changes]],
        *,
        shared: bool = False,
    ) -> None:
        self._service = service
        self._user = user
        self._leave = leave
        self._shared = shared

    async def where(self) -> AsyncGenerator[Changes, None]:
        """What of the memory is encoded, and how full the space is: now, and when all is."""
        found = await self._service.residency(self._user)
        yield {"residency": _residency(found, shared=self._shared)}
        if found.waiting:
            await self._service.settle(self._user)
            found = await self._service.residency(self._user)
            yield {"residency": _residency(found, shared=self._shared)}

    async def export(self) -> Changes:
        """A file with every fact, its sources and its history, for the browser to keep."""
        document = await self._service.export_facts(self._user)
        text = await asyncio.to_thread(document.model_dump_json, indent=2)
        return {"download": download("facts.json", "application/json", text)}

    async def take_in(self, path: str | None) -> Changes:
        """Add the facts of an exported file. What was uploaded does not stay on the disk."""
        if path is None:
            return {}
        try:
            text = await asyncio.to_thread(_read_and_remove, Path(path))
            done = await self._service.import_facts(self._user, text)
        except UserError as error:
            return {"upkeep_notice": notice(told(error))}
        added, known = counted(done.added, "fact"), counted(done.known, "fact")
        left = f" {counted(done.left_out, 'fact')} of other conversations left out."
        return {
            "upkeep_notice": said(
                f"{added} added, {known} known already.{left if done.left_out else ''}"
            )
        }

    async def load_sample(self) -> Changes:
        """Teach an empty memory a sample person, to have something to ask about."""
        try:
            person = await load_sample(self._service, self._user)
        except UserError as error:
            return {"upkeep_notice": notice(told(error))}
        question = person.questions[0].question
        return {
            "upkeep_notice": said(
                f"{counted(len(person.facts), 'fact')} of a sample person added. "
                f"Try asking: {question}"
            )
        }

    async def remove_sample(self) -> Changes:
        """Forget the sample person; what the user said themselves stays."""
        count = await remove_sample(self._service, self._user)
        removed = f"{counted(count, 'fact')} of the sample person forgotten."
        return {"upkeep_notice": said(removed if count else "There is no sample person to remove.")}

    async def forget_everything(self, tab: str, typed: str) -> AsyncGenerator[Changes, None]:
        """Delete all that is known and was said, if that was typed, and prove that it is gone."""
        if typed.strip().casefold() != CONFIRMATION:
            yield {"upkeep_notice": notice(f"Type “{CONFIRMATION}” in the box to confirm.")}
            return
        yield {"upkeep_notice": said("Forgetting everything…")}
        page = await self._leave(tab)
        count = await self._service.forget_everything(self._user)
        found = await self._service.full_audit(self._user)
        residency = await self._service.residency(self._user)
        yield {
            "residency": _residency(residency, shared=self._shared),
            "upkeep_notice": said(f"{counted(count, 'fact')} and every conversation forgotten."),
            "audit": _audit(found),
            "confirmation": "",
            **page,
        }


def download(name: str, kind: str, text: str) -> str:
    """What the page's script turns into a file in the browser; none is written here."""
    return json.dumps({"name": name, "type": kind, "text": text})


def _read_and_remove(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError:
        raise UserError("The file is not text. Choose one that Export made.") from None
    finally:
        file.unlink()


def _residency(found: Residency, *, shared: bool = False) -> str:
    encoded = sum(found.encoded.values())
    facts = f"{counted(len(found.encoded), 'fact')} encoded, {size(encoded)} of KV"
    tiers = ""
    if found.host.capacity and found.encoded:
        there = len(found.on_host)
        tiers = f": {len(found.encoded) - there} on the device, {there} in host memory"
    waiting = f"; {len(found.waiting)} not encoded yet" if found.waiting else ""
    own = f'<p class="residency">{facts}{tiers}{waiting}.</p>'
    if shared:
        return own
    host = _tier("Host memory", found.host) if found.host.capacity else ""
    return f'{own}<dl class="tiers">{_tier("Device (arena)", found.device)}{host}</dl>'


def _tier(name: str, tier: Tier) -> str:
    share = 100 * tier.used / tier.capacity if tier.capacity else 0
    bar = f'<span style="width:{share:.1f}%"></span>' if tier.used else ""
    return (
        f"<div><dt>{name}</dt><dd>{size(tier.used)} of {size(tier.capacity)}"
        f'<span class="gauge" aria-hidden="true">{bar}</span></dd></div>'
    )


def _audit(found: list[Finding]) -> str:
    rows = "".join(
        f'<tr><td><span aria-hidden="true">{"✓" if f.ok else "✗"}</span> '
        f'{"Clean" if f.ok else "Left over"}</td><th scope="row">{as_html(f.place)}</th>'
        f"<td>{as_html(f.found)}</td></tr>"
        for f in found
    )
    clean = all(each.ok for each in found)
    verdict = "Nothing is left." if clean else "Something is left; see below."
    return (
        f'<div class="audit" role="status"><h3>Audit: {verdict}</h3>'
        '<table><thead><tr><th scope="col">Result</th><th scope="col">Place</th>'
        f'<th scope="col">Found</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
