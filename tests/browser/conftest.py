"""The chat in a real browser, over the real service and a fake engine."""

import shutil
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from memory_engine.types import Prompt
from tests.agent.agent_builder import Parts, opened, url_of
from tests.agent.fake_memory import text_of
from tests.ui.page_server import Served, served

# On a busy machine a page takes its time; only a test that fails waits so long.
expect.set_options(timeout=15_000)

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}


def answer(prompt: Prompt) -> str:
    """The reply of a model that reads its prompt."""
    said = text_of(prompt)
    question = said.rsplit("user: ", 1)[-1]
    if "count" in question:
        return " ".join(str(n) for n in range(400))
    if "dog's name" not in question:
        return "Nice to know."
    return "Your dog is called Biscuit." if "Biscuit" in said else "I do not know."


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def chat(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served[Parts]]:
    """The served chat of one test; parametrize it indirectly with options of `opened`."""
    options = {"reply": answer, "delay": 0.01, **getattr(request, "param", {})}

    def open_it() -> AbstractAsyncContextManager[Parts]:
        return opened(url_of(tmp_path), **options)

    with served(open_it, lambda parts: parts.service) as page:
        yield page
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture(scope="session")
def shared_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served[Parts]]:
    """The chat that most tests share; `own_page` empties it before each."""
    folder = tmp_path_factory.mktemp("chat")

    def open_it() -> AbstractAsyncContextManager[Parts]:
        return opened(url_of(folder), reply=answer, delay=0.01)

    with served(open_it, lambda parts: parts.service) as page:
        yield page


@pytest.fixture
def own_page(browser: Browser, shared_chat: Served[Parts]) -> Iterator[Page]:
    """A page of the shared chat, of which nothing is known and in which nothing was said."""
    shared_chat.wait(shared_chat.opened.service.forget_everything("ann"))
    page = page_of(browser, shared_chat.url, WIDE)
    yield page
    page.context.close()


def page_of(browser: Browser, url: str, size: dict[str, int]) -> Page:
    page = browser.new_context(viewport=size, locale="en-GB").new_page()  # type: ignore[arg-type]
    page.goto(url)
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=20_000)
    # The lists come with the load event, after which the page listens.
    expect(page.get_by_text("No conversations yet.").or_(conversations(page))).to_have_count(1)
    return page


def conversations(page: Page):  # type: ignore[no-untyped-def]
    return page.locator("#conversations-panel ul")


@pytest.fixture
def page(browser: Browser, chat: Served[Parts]) -> Iterator[Page]:
    page = page_of(browser, chat.url, WIDE)
    yield page
    page.context.close()


@pytest.fixture
def own_phone(browser: Browser, shared_chat: Served[Parts]) -> Iterator[Page]:
    """`own_page` on a phone."""
    shared_chat.wait(shared_chat.opened.service.forget_everything("ann"))
    page = page_of(browser, shared_chat.url, NARROW)
    yield page
    page.context.close()
