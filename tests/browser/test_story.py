"""The Biscuit story over everything but the model: told, a restart, asked, injected."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.composition import running_service
from app.service import ChatService
from app.settings import Settings
from memory_engine.engines.fake import FakeEngine
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import Prompt
from tests.browser.conftest import WIDE, page_of
from tests.ui.page_server import GRADIO_WARNINGS, served

pytestmark = [pytest.mark.browser, *GRADIO_WARNINGS]


@pytest.fixture
def answer(bundled_llm: Path) -> Callable[[Prompt], str]:
    """A reply that quotes what of the prompt is about a dog."""
    tokenizer = ChatTokenizer(bundled_llm)

    def reply(prompt: Prompt) -> str:
        said = tokenizer.decode(prompt.token_ids)
        return "Biscuit, of course." if said.count("Biscuit") else "I do not know."

    return reply


@contextmanager
def opened_page(
    browser: Browser, settings: Settings, answer: Callable[[Prompt], str]
) -> Iterator[Page]:
    def open_it() -> AbstractAsyncContextManager[ChatService]:
        return running_service(settings, engine=FakeEngine(answer, delay=0.01))

    with served(open_it, lambda service: service) as chat:
        page = page_of(browser, chat.url, WIDE)
        yield page
        page.context.close()


def test_a_fact_survives_a_restart_and_is_injected(
    browser: Browser, bundled_llm: Path, data_dir: Path, answer: Callable[[Prompt], str]
) -> None:
    settings = Settings(data_dir=data_dir, model=str(bundled_llm), extractor="rules", tail=0)
    with opened_page(browser, settings, answer) as page:
        page.get_by_role("textbox", name="Message").fill("My dog is called Biscuit")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator("#memory-panel")).to_contain_text("My dog is called Biscuit")

    with opened_page(browser, settings, answer) as page:
        expect(page.locator("#memory-panel")).to_contain_text("My dog is called Biscuit")
        page.get_by_role("textbox", name="Message").fill("What is my dog's name?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("log")).to_contain_text("Biscuit, of course.")
        expect(page.get_by_text("1 fact used: 1 injected as KV")).to_be_visible()
