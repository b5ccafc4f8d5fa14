"""No user of the page sees or changes anything of another, at any event and any endpoint."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import httpx2
import pytest

from app.api.gate import OWN_PATHS, PUBLIC
from app.auth.accounts import Accounts
from app.auth.api_keys import ApiKeys
from app.auth.passwords import Passwords
from app.serving.assembly import create_app as assemble
from app.settings import Settings
from tests.agent.agent_builder import Parts, opened, url_of
from tests.agent.fake_memory import text_of
from tests.app.api.api_server import CHEAP
from tests.ui.fake_service import FakeService
from tests.ui.fake_tab import API, Tab
from tests.ui.page_server import GRADIO_WARNINGS, Served, served
from ui import build_ui, create_app
from ui.shell.session_guard import HEARTBEAT, OF_A_TAB, OPEN, OPEN_BELOW, QUEUE

pytestmark = GRADIO_WARNINGS

SECRET, PASSWORD = "Zanzibar", "correct horse battery"
ACTS = {
    "conversation": ("", "rename", "export", "delete"),
    "fact": ("show", "edit", "undo", "forget"),
}


@dataclass
class Announced:
    """A fact of ann's, in a service that echoes each prompt, so that it hides nothing."""

    parts: Parts
    conversation: str
    fact: str


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served[Announced]]:
    folder: Path = tmp_path_factory.mktemp("chat")

    @asynccontextmanager
    async def open_it() -> AsyncIterator[Announced]:
        async with opened(url_of(folder), reply=text_of) as parts:
            accounts = Accounts(parts.database, Passwords(CHEAP))
            for name in ("ann", "bob"):
                await accounts.add(name, PASSWORD)
            await parts.say(f"I live in {SECRET}.")
            (conversation,) = await parts.service.conversations("ann")
            (fact,) = await parts.service.facts("ann")
            yield Announced(parts, conversation.id, fact.id)

    with served(open_it, lambda told: told.parts.service, Settings(auth="accounts")) as page:
        yield page


def tab_of(chat: Served[Announced], name: str | None) -> Iterator[Tab]:
    tab = Tab(chat.url)
    if name:
        assert tab.sign_in(name, PASSWORD).status_code == 303
    yield tab
    tab.close()


@pytest.fixture
def ann(chat: Served[Announced]) -> Iterator[Tab]:
    yield from tab_of(chat, "ann")


@pytest.fixture
def bob(chat: Served[Announced]) -> Iterator[Tab]:
    yield from tab_of(chat, "bob")


@pytest.fixture
def nobody(chat: Served[Announced]) -> Iterator[Tab]:
    yield from tab_of(chat, None)


class Attack:
    """Every event of the page, each with what would get most out of it."""

    def __init__(self, tab: Tab, chat: Served[Announced]) -> None:
        self._tab = tab
        self._told = chat.opened
        config = tab.config()
        self._parts = {part["id"]: part for part in config["components"]}
        self.events = [event for event in config["dependencies"] if event["backend_fn"]]
        self.names = chat.wait(_names())

    def cause(self, event: dict[str, Any], clicked: object = None) -> str:
        data = [self._value(self._parts[part]) for part in event["inputs"]]
        return self._tab.cause(event, data, clicked)

    def named(self, handler: str) -> dict[str, Any]:
        return next(event for event in self.events if self.names[event["id"]] == handler)

    def _value(self, part: dict[str, Any]) -> Any:
        if part["type"] == "state":
            return self._told.conversation  # which Gradio has to ignore
        if part["type"] == "textbox":
            confirms = "confirm" in part["props"]["label"]
            return "forget everything" if confirms else SECRET[:4]
        return {"radio": "kv", "chatbot": [], "slider": 5, "checkbox": True}.get(part["type"])


async def _names() -> dict[int, str]:
    """The page's handlers by the ids of their events."""
    events = build_ui(FakeService(), sign_out=True).fns
    return {number: getattr(event.fn, "__qualname__", "") for number, event in events.items()}


def ends(attack: Attack) -> list[dict[str, Any]]:
    """The events that act on what was clicked."""
    return [attack.named(name) for name in ("ConversationPanel.act", "FactPanel.act")]


def test_no_event_tells_or_changes_anything_of_another_user(
    chat: Served[Announced], bob: Tab
) -> None:
    told = chat.opened
    attack = Attack(bob, chat)
    assert len(attack.events) > 50
    for event in attack.events:
        came = attack.cause(event, {"id": told.conversation, "act": ""})
        assert SECRET not in came, attack.names[event["id"]]
    for kind, acts in ACTS.items():
        for act in acts:
            click = {"id": getattr(told, kind), "act": act, "text": "Mine now"}
            attack.cause(attack.named("clicked"), click)
            for event in ends(attack):
                assert SECRET not in attack.cause(event), (act, attack.names[event["id"]])
    chat.wait(told.parts.service.settle())
    assert chat.wait(told.parts.known("ann")) == [f"I live in {SECRET}."]
    (conversation,) = chat.wait(told.parts.service.conversations("ann"))
    assert conversation.title == f"I live in {SECRET}."
    messages = chat.wait(told.parts.service.messages("ann", told.conversation))
    assert len(messages) == 2
    assert told.parts.engine.resident("ann")


def test_the_same_events_tell_ann_all_of_it(chat: Served[Announced], ann: Tab) -> None:
    """So that the test before would see what is told."""
    attack = Attack(ann, chat)
    for handler in ("ConversationPanel.listed", "FactPanel.listed", "BulkPanel.export"):
        assert SECRET in attack.cause(attack.named(handler)), handler
    for kind, handler in (("conversation", "ConversationPanel.act"), ("fact", "FactPanel.act")):
        click = {"id": getattr(chat.opened, kind), "act": "show" * (kind == "fact")}
        attack.cause(attack.named("clicked"), click)
        assert SECRET in attack.cause(attack.named(handler)), handler
    attack.cause(attack.named("ChatTurns.take"))
    assert SECRET in attack.cause(attack.named("ChatTurns.send"))


async def routes_of_gradio() -> list[tuple[str, str]]:
    """Every endpoint that Gradio has, whether the page has it or not."""
    page = create_app(FakeService(), user="ann")
    apps = [getattr(route, "app", None) for route in page.routes]
    (mounted,) = [app for app in apps if isinstance(app, gr.routes.App)]
    found = set()
    todo: list[tuple[str, Any]] = [("", route) for route in mounted.routes]
    while todo:
        before, route = todo.pop()
        if hasattr(route, "methods"):
            path = re.sub(r"\{[^}]*\}", "x", before + route.path)
            found |= {(method, path or "/") for method in route.methods or ()}
        else:
            todo += [(before, inner) for inner in getattr(route, "routes", [])]
    return sorted(each for each in found if each[1] not in OWN_PATHS)  # those are the API's


def ask(tab: Tab, method: str, path: str, session: str) -> httpx2.Response:
    """Ask an endpoint of Gradio for what belongs to a session."""
    url = path.replace(f"{HEARTBEAT}x", f"{HEARTBEAT}{session}")
    body = {"session_hash": session, "fn_index": 0, "data": [], "event_id": "x"}
    params = {"session_hash": session}
    with tab.http.stream(method, url, params=params, json=body) as reply:
        if not reply.headers.get("content-type", "").startswith("text/event-stream"):
            reply.read()  # a stream of events goes on for ever
        return reply


def test_of_all_that_gradio_has_nobody_gets_anything_without_signing_in(
    chat: Served[Announced], nobody: Tab, ann: Tab
) -> None:
    found = chat.wait(routes_of_gradio())
    assert len(found) > 60
    for method, path in [*found, ("GET", "/password"), ("POST", "/password")]:
        if path.startswith(PUBLIC):
            continue
        reply = ask(nobody, method, path, ann.hash)
        assert reply.status_code in (303, 401), (method, path)
        assert SECRET not in reply.text


def test_of_all_that_gradio_has_another_users_tab_gives_nothing(
    chat: Served[Announced], ann: Tab, bob: Tab
) -> None:
    attack = Attack(ann, chat)
    attack.cause(attack.named("ConversationPanel.listed"))  # the tab is ann's from here on
    for method, path in chat.wait(routes_of_gradio()):
        if path in OPEN or path.startswith(OPEN_BELOW):
            if method in ("GET", "HEAD"):
                assert SECRET not in ask(bob, method, path, ann.hash).text, path
            continue
        reply = ask(bob, method, path, ann.hash)
        of_a_tab = path in OF_A_TAB or path == QUEUE or path.startswith(HEARTBEAT)
        assert reply.status_code == (403 if of_a_tab else 404), (method, path)


def test_an_event_names_its_tab_and_is_not_endless(bob: Tab) -> None:
    wrong: tuple[Any, ...] = ({"data": []}, [], None, {"session_hash": ""}, {"session_hash": 1})
    for body in wrong:
        reply = bob.http.post(f"{API}/run/predict", json=body)
        assert reply.status_code == 400
    huge = b'{"session_hash": "x", "data": ["' + b"x" * (17 << 20) + b'"]}'
    assert bob.http.post(f"{API}/queue/join", content=huge).status_code == 413


@pytest.mark.parametrize("auth", ["keys", "proxy", "off"])
async def test_the_page_is_that_of_who_asks_in_whatever_way(tmp_path: Path, auth: Any) -> None:
    listed = min(number for number, name in (await _names()).items() if name == "FactPanel.listed")
    event = {"fn_index": listed, "data": ["", None]}
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_fact("ann", f"I live in {SECRET}.")
        settings = Settings(auth=auth, auth_peers="10.0.0.5", user="bob")
        _, gate = assemble(parts.service, settings, create_app)
        transport = httpx2.ASGITransport(gate, client=("10.0.0.5", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            for name in ("ann", "bob"):
                key = await ApiKeys(parts.database).add(name) if auth == "keys" else "x"
                headers = {"Authorization": f"Bearer {key}", "X-Forwarded-User": name}
                reply = await http.post(
                    f"{API}/run/predict", json={**event, "session_hash": name}, headers=headers
                )
                assert reply.status_code == 200
                assert (SECRET in reply.text) == (name == "ann" and auth != "off")
