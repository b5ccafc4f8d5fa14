"""Handlers of the memory as a whole: residency, export, import, sample, forget everything."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

from agent.facts.erasure_audit import Finding
from app.public_errors import public_message
from app.sample_person import load_sample, remove_sample
from app.service import ChatService
from memory_engine.encoding.residency import Residency, Tier
from memory_engine.errors import UserError
from ui.parts.escaping import as_html, counted, size
from ui.parts.file_download import as_download
from ui.parts.page_states import Changes, error_message, status_message

CONFIRMATION = "forget everything"


class BulkPanel:
    """Handlers of the whole memory of `user`. `leave` shows an empty page in a browser tab.

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
        """Show how much of the memory is encoded and how full the space is, now and later."""
        found = await self._service.residency(self._user)
        yield {"residency": _residency(found, shared=self._shared)}
        if found.waiting:
            await self._service.settle(self._user)
            found = await self._service.residency(self._user)
            yield {"residency": _residency(found, shared=self._shared)}

    async def export(self) -> Changes:
        """Export every fact, its sources and its history as a file for the browser to keep."""
        document = await self._service.export_facts(self._user)
        text = await asyncio.to_thread(document.model_dump_json, indent=2)
        return {"download": as_download("facts.json", "application/json", text)}

    async def take_in(self, path: str | None) -> Changes:
        """Add the facts of an exported file. What was uploaded does not stay on the disk."""
        if path is None:
            return {}
        try:
            text = await asyncio.to_thread(_read_and_remove, Path(path))
            done = await self._service.import_facts(self._user, text)
        except UserError as error:
            return {"bulk_notice": error_message(public_message(error))}
        added, known = counted(done.added, "fact"), counted(done.known, "fact")
        left = f" {counted(done.left_out, 'fact')} of other conversations left out."
        return {
            "bulk_notice": status_message(
                f"{added} added, {known} known already.{left if done.left_out else ''}"
            )
        }

    async def load_sample(self) -> Changes:
        """Teach an empty memory a sample person, to have something to ask about."""
        try:
            person = await load_sample(self._service, self._user)
        except UserError as error:
            return {"bulk_notice": error_message(public_message(error))}
        question = person.questions[0].question
        return {
            "bulk_notice": status_message(
                f"{counted(len(person.facts), 'fact')} of a sample person added. "
                f"Try asking: {question}"
            )
        }

    async def remove_sample(self) -> Changes:
        """Forget the sample person; what the user said themselves stays."""
        count = await remove_sample(self._service, self._user)
        removed = f"{counted(count, 'fact')} of the sample person forgotten."
        return {
            "bulk_notice": status_message(
                removed if count else "There is no sample person to remove."
            )
        }

    async def forget_everything(self, tab: str, typed: str) -> AsyncGenerator[Changes, None]:
        """Delete all that is known and was said, if that was typed, and prove that it is gone."""
        if typed.strip().casefold() != CONFIRMATION:
            yield {"bulk_notice": error_message(f"Type “{CONFIRMATION}” in the box to confirm.")}
            return
        yield {"bulk_notice": status_message("Forgetting everything…")}
        page = await self._leave(tab)
        count = await self._service.forget_everything(self._user)
        found = await self._service.full_audit(self._user)
        residency = await self._service.residency(self._user)
        yield {
            "residency": _residency(residency, shared=self._shared),
            "bulk_notice": status_message(
                f"{counted(count, 'fact')} and every conversation forgotten."
            ),
            "audit": _audit(found),
            "confirmation": "",
            **page,
        }


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
