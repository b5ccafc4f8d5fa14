"""Rows of the fact list as HTML, and the open one with its source, history and validity."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.facts.transfer.export_schema import EventDocument, FactDocument, SourceDocument
from app.service import Fact
from memory_engine.encoding.residency import Residency
from ui.parts.escaping import as_html, counted, day, moment, size

SHOWN = 200  # a browser draws so many rows at once without a pause

HAPPENED = {
    "added": "Added",
    "updated": "Told in more detail",
    "superseded": "Replaced",
    "retracted": "Taken back",
    "expired": "Its time was over",
    "undone": "Undone",
    "restored": "Brought back",
    "forgotten": "Forgotten",
}


@dataclass(frozen=True)
class OpenFact:
    """The open fact: its document, where its KV is, the texts of the facts it replaced."""

    fact: FactDocument
    where: str
    before: tuple[str, ...] = ()

    @property
    def undoable(self) -> bool:
        """Whether undo can help: it took a place, or ended and not by being undone."""
        if self.fact.ended_at is None:
            return bool(self.before)
        return self.fact.events[-1].kind != "undone"


def matching(facts: Iterable[Fact], search: str) -> list[Fact]:
    """The facts with every word of `search`, newest first."""
    words = search.casefold().split()
    return [f for f in facts if all(word in f.text.casefold() for word in words)][::-1]


def facts_list(facts: Sequence[Fact], search: str, opened: OpenFact | None) -> str:
    """The facts that match `search`; `opened` with all that is known of it."""
    if not facts and opened is None:
        return '<p class="quiet">Nothing yet. Tell me something about yourself.</p>'
    found = matching(facts, search)
    shown = found[:SHOWN]
    open_id = opened.fact.id if opened else None
    rows = [_open(opened) if opened and f.id == open_id else _row(f) for f in shown]
    if opened and all(open_id != fact.id for fact in shown):
        rows.insert(0, _open(opened))
    return (
        f'<p class="quiet" role="status">{_count(len(facts), len(found), search)}</p>'
        f'<ul class="rows facts">{"".join(rows)}</ul>'
    )


def past_list(facts: Sequence[FactDocument], search: str) -> str:
    """Facts that ended and were not forgotten, the last ended first."""
    words = search.casefold().split()
    ended = [f for f in facts if f.ended_at and all(word in f.text.casefold() for word in words)]
    ended.sort(key=lambda fact: (fact.ended_at is not None, fact.ended_at), reverse=True)
    if not ended:
        return '<p class="quiet">No facts that held once.</p>'
    rows = "".join(_past(fact) for fact in ended[:SHOWN])
    title = f"<h3>{counted(len(ended), 'fact')} that held once</h3>"
    return f'{title}<ul class="rows facts past">{rows}</ul>'


def whereabouts(fact_id: str, residency: Residency) -> str:
    """`Encoded: 96 KiB of KV in host memory`, and what it means where there is none."""
    if fact_id in residency.encoded:
        tier = "in host memory" if fact_id in residency.on_host else "on the device"
        return f"Encoded: {size(residency.encoded[fact_id])} of KV {tier}"
    if fact_id in residency.waiting:
        return "Not encoded yet: sent as text"
    return "No KV: sent as text"


def _count(known: int, found: int, search: str) -> str:
    if search.strip():
        return f"{found:,} of {counted(known, 'fact')}"
    more = f". The newest {SHOWN} are shown; search for others" if found > SHOWN else ""
    return f"{counted(known, 'fact')}{more}"


def _row(fact: Fact) -> str:
    text, fact_id = as_html(fact.text), as_html(fact.id)
    return (
        f'<li><span class="title">{text}</span>'
        f'<span class="quiet">{day(fact.when)}</span>'
        f'<span class="acts"><button type="button" class="link details" data-id="{fact_id}" '
        f'data-act="show" aria-label="Details: {text}">Details</button>'
        f"{_forget(fact_id, text)}</span></li>"
    )


def _forget(fact_id: str, text: str) -> str:
    return (
        f'<details><summary aria-label="Forget: {text}">Forget</summary>'
        '<span class="sure">Forget this for good?</span>'
        f'<button type="button" class="danger" data-id="{fact_id}" data-act="forget">'
        "Yes, forget</button></details>"
    )


def _open(opened: OpenFact) -> str:
    fact = opened.fact
    text, fact_id = as_html(fact.text), as_html(fact.id)
    undo = _button(fact_id, "undo", "Undo last change") if opened.undoable else ""
    rest = f"{undo}{_button(fact_id, 'hide', 'Close')}{_forget(fact_id, text)}"
    if fact.ended_at is None:
        body = (
            f'<textarea rows="2" aria-label="Fact" data-focus>{text}</textarea>'
            f'<span class="buttons"><button type="button" class="save" data-id="{fact_id}" '
            f'data-act="edit" data-default>Save</button>{rest}</span>'
        )
    else:
        body = (
            f'<span class="title" tabindex="-1" data-focus>{text}</span>'
            f'<span class="buttons">{rest}</span>'
        )
    return f'<li class="open">{body}<dl>{"".join(_details(opened))}</dl></li>'


def _details(opened: OpenFact) -> Iterable[str]:
    fact = opened.fact
    yield _term("Holds", _validity(fact))
    yield _term("Date", day(fact.when))
    yield _term("In memory", as_html(opened.where))
    yield _term("Source", "".join(_source(source) for source in fact.sources) + _hand(fact))
    yield _term("Before", "<br>".join(map(as_html, opened.before)))
    yield _term("History", f'<ul class="events">{"".join(map(_event, fact.events))}</ul>')


def _term(name: str, value: str) -> str:
    return f"<div><dt>{name}</dt><dd>{value}</dd></div>" if value else ""


def _validity(fact: FactDocument) -> str:
    since = f"since {moment(fact.valid_from)}" if fact.valid_from else ""
    until = f"until {moment(fact.valid_to)}" if fact.valid_to else ""
    return " ".join(filter(None, (since, until))) or "always"


def _source(source: SourceDocument) -> str:
    return f"<q>{as_html(source.text)}</q> <span>{moment(source.said_at)}</span><br>"


def _hand(fact: FactDocument) -> str:
    return "Added by hand" if fact.by_hand else ""


def _event(event: EventDocument) -> str:
    return f"<li>{HAPPENED[event.kind]}, {moment(event.at)}</li>"


def _button(fact_id: str, act: str, label: str) -> str:
    return f'<button type="button" data-id="{fact_id}" data-act="{act}">{label}</button>'


def _past(fact: FactDocument) -> str:
    text, fact_id = as_html(fact.text), as_html(fact.id)
    why = next((HAPPENED[e.kind] for e in reversed(fact.events) if e.kind != "added"), "Ended")
    return (
        f'<li><span class="title">{text}</span>'
        f'<span class="quiet">{why}, {moment(fact.ended_at)}</span>'
        f'<span class="acts"><button type="button" class="link" data-id="{fact_id}" '
        f'data-act="show" aria-label="Details: {text}">Details</button></span></li>'
    )
