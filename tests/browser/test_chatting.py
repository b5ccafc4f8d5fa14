"""The main job in a browser: tell a fact, ask in a new conversation, see how it came, forget."""

import re
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.agent.agent_builder import Parts, opened, url_of
from tests.browser.conftest import WIDE, answer, page_of
from tests.ui.page_server import GRADIO_WARNINGS, Served, served

pytestmark = [pytest.mark.browser, *GRADIO_WARNINGS]

FIRST_TOKEN = re.compile(r"\d+(\.\d+)? m?s to the first token \(engine \d+(\.\d+)? m?s\)")


def say(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Message")
    box.fill(text)
    box.press("Enter")


def log(page: Page, number: int = 0) -> Locator:
    return page.get_by_role("log").nth(number)


def finished(page: Page) -> None:
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()


def aborted(page: Page, chat: Served[Parts]) -> None:
    """Wait until the engine has aborted one request."""
    deadline = time.monotonic() + 10
    while chat.opened.engine.aborted == 0 and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert chat.opened.engine.aborted == 1


def facts_used(page: Page) -> Locator:
    return page.get_by_text(re.compile(r"^\d+ facts? used: "))


def facts(page: Page) -> Locator:
    return page.locator("#memory-panel")


def test_a_fact_told_once_is_known_in_a_new_conversation_and_can_be_forgotten(
    own_page: Page,
) -> None:
    page = own_page
    say(page, "My dog is called Biscuit")
    expect(log(page)).to_contain_text("Nice to know.")
    expect(facts(page)).to_contain_text("My dog is called Biscuit.")

    page.get_by_role("button", name="New conversation").click()
    expect(log(page)).not_to_contain_text("Nice to know.")
    say(page, "What is my dog's name?")
    expect(log(page)).to_contain_text("Your dog is called Biscuit.")
    expect(page.get_by_text(FIRST_TOKEN)).to_be_visible()
    for part in ("recall", "plan", "queue", "prefill"):
        expect(
            page.get_by_role("listitem").filter(has_text=re.compile(rf"^{part} "))
        ).to_be_visible()
    expect(page.get_by_text(re.compile(r"Prompt of \d+ tokens: [1-9]\d* injected"))).to_be_visible()
    page.get_by_text("1 fact used: 1 injected as KV").click()
    told = r"My dog is called Biscuit\. \(.*injected; you said: “My dog is called Biscuit”\)"
    expect(page.get_by_role("list", name="Facts used")).to_have_text(re.compile(told))

    page.get_by_label("Forget: My dog is called Biscuit.").click()
    page.get_by_role("button", name="Yes, forget").click()
    expect(facts(page)).to_contain_text("Nothing yet.")
    page.get_by_role("button", name="New conversation").click()
    say(page, "What is my dog's name?")
    expect(log(page)).to_contain_text("I do not know.")


def test_conversations_come_back_after_a_reload(own_page: Page) -> None:
    page = own_page
    say(page, "My dog is called Biscuit")
    expect(log(page)).to_contain_text("Nice to know.")
    finished(page)
    page.reload()
    kept = page.locator("#conversations-panel").get_by_role("button")
    kept.filter(has_text="My dog is called Biscuit").click()
    expect(log(page)).to_contain_text("Nice to know.")


@pytest.mark.parametrize("chat", [{"delay": 0.05}], indirect=True)
def test_stop_aborts_the_engine_and_keeps_what_was_said(page: Page, chat: Served[Parts]) -> None:
    say(page, "Please count")
    expect(log(page)).to_contain_text("3 4 5")
    page.get_by_role("button", name="Stop").click()
    finished(page)
    expect(page.get_by_text("Stopped", exact=True)).to_be_visible()
    aborted(page, chat)
    service = chat.opened.service
    [conversation] = chat.wait(service.conversations("ann"))
    messages = chat.wait(service.messages("ann", conversation.id))
    assert messages[1].content.startswith("0 1 2 3 4 5")
    assert "399" not in messages[1].content
    say(page, "What is my dog's name?")
    expect(log(page)).to_contain_text("I do not know.")
    assert len(chat.wait(service.conversations("ann"))) == 1


@pytest.mark.parametrize("chat", [{"delay": 0.05}], indirect=True)
def test_a_new_conversation_stops_the_reply_in_progress(page: Page, chat: Served[Parts]) -> None:
    say(page, "Please count")
    expect(log(page)).to_contain_text("3 4 5")
    page.get_by_role("button", name="New conversation").click()
    finished(page)
    expect(log(page)).not_to_contain_text("3 4 5")
    aborted(page, chat)
    page.wait_for_timeout(300)
    expect(log(page)).not_to_contain_text("3 4 5")


@pytest.mark.parametrize("chat", [{"delay": 0.05}], indirect=True)
def test_leaving_the_page_aborts_the_engine(page: Page, chat: Served[Parts]) -> None:
    say(page, "Please count")
    expect(log(page)).to_contain_text("3 4 5")
    page.goto("about:blank")
    aborted(page, chat)


def test_what_was_said_before_the_server_ended_is_kept(browser: Browser, tmp_path: Path) -> None:
    def open_it() -> AbstractAsyncContextManager[Parts]:
        return opened(url_of(tmp_path), reply=answer, delay=0.05)

    with served(open_it, lambda parts: parts.service) as chat:
        page = page_of(browser, chat.url, WIDE)
        say(page, "Please count")
        expect(log(page)).to_contain_text("3 4 5")
    page.context.close()
    assert chat.opened.engine.aborted == 1
    with served(open_it, lambda parts: parts.service) as again:
        service = again.opened.service
        [conversation] = again.wait(service.conversations("ann"))
        messages = again.wait(service.messages("ann", conversation.id))
    assert messages[1].content.startswith("0 1 2 3 4 5")


def test_a_blank_message_is_explained(own_page: Page) -> None:
    page = own_page
    say(page, "   ")
    expect(page.get_by_role("alert")).to_have_text("The message is empty. Write something first.")
    expect(page.get_by_text("No conversations yet.")).to_be_visible()


@pytest.mark.parametrize("chat", [{"max_model_len": 1200}], indirect=True)
def test_a_message_that_is_too_long_stays_in_the_box(page: Page) -> None:
    text = "x" * 1500
    say(page, text)
    expect(page.get_by_role("alert")).to_contain_text("limit")
    expect(page.get_by_role("textbox", name="Message")).to_have_value(text)
    expect(log(page)).not_to_contain_text("xxx")


def test_a_stopped_engine_is_reported_and_the_message_stays(
    page: Page, chat: Served[Parts]
) -> None:
    chat.opened.engine.running = False
    say(page, "My dog is called Biscuit")
    expect(page.get_by_text("The engine is not running")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("My dog is called Biscuit")
    finished(page)


def test_mark_up_and_control_tokens_show_as_text(own_page: Page) -> None:
    page = own_page
    page.get_by_role("textbox", name="New fact").fill("I like <b>plums</b> ${1+1} {{value}}.")
    page.get_by_role("button", name="Add").click()
    expect(facts(page)).to_contain_text("I like <b>plums</b> ${1+1} {{value}}.")
    text = "<b>bold</b> <|im_end|> *star* {{x}} <img src=x>"
    say(page, text)
    expect(log(page)).to_contain_text(text)


def test_side_by_side_shows_both_and_compares(own_page: Page) -> None:
    page = own_page
    say(page, "My dog is called Biscuit")
    expect(facts(page)).to_contain_text("My dog is called Biscuit.")
    page.get_by_role("radio", name="Side by side").check()
    expect(page.get_by_role("heading", name="KV")).to_be_visible()
    expect(log(page, 1)).to_contain_text("Nice to know.")
    say(page, "What is my dog's name?")
    expect(log(page, 0)).to_contain_text("Your dog is called Biscuit.")
    expect(log(page, 1)).to_contain_text("Your dog is called Biscuit.")
    expect(page.get_by_text(FIRST_TOKEN)).to_have_count(2)
    verdict = page.get_by_role("status").filter(has_text="to first token")
    expect(verdict).to_contain_text("The replies are identical")
    left, right = (log(page, n).bounding_box() for n in (0, 1))
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert abs(left["width"] - right["width"]) <= 1
    page.get_by_role("radio", name="Text", exact=True).check()
    expect(page.get_by_role("log")).to_have_count(1)
    expect(log(page)).to_contain_text("Your dog is called Biscuit.")


@pytest.mark.parametrize("chat", [{"supported": False}], indirect=True)
def test_where_kv_is_refused_text_works_and_the_reason_is_shown(page: Page) -> None:
    expect(page.get_by_role("radio", name="Side by side")).to_be_disabled()
    expect(page.get_by_text("KV injection is off for this model:")).to_be_visible()
    say(page, "My dog is called Biscuit")
    expect(log(page)).to_contain_text("Nice to know.")
    finished(page)
    expect(page.get_by_role("radio", name="KV", exact=True)).to_be_disabled()


@pytest.mark.parametrize("chat", [{"max_model_len": 1200}], indirect=True)
def test_an_edit_that_is_refused_keeps_the_exchange(page: Page) -> None:
    say(page, "My dog is called Biscuit")
    expect(log(page)).to_contain_text("Nice to know.")
    finished(page)
    page.get_by_role("button", name="Edit message").click()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("My dog is called Biscuit")
    say(page, "x" * 1500)
    expect(page.get_by_role("alert")).to_contain_text("limit")
    expect(log(page)).to_contain_text("Nice to know.")
    expect(facts(page)).to_contain_text("My dog is called Biscuit.")
    say(page, "My dog is called Biscotto")
    expect(facts(page)).to_contain_text("My dog is called Biscotto.")
    expect(facts(page)).not_to_contain_text("My dog is called Biscuit.")


@pytest.mark.parametrize("chat", [{"delay": 0.05}], indirect=True)
def test_a_reload_in_the_middle_of_a_reply_leaves_it_marked_as_stopped(page: Page) -> None:
    say(page, "Please count")
    expect(log(page)).to_contain_text("3 4 5")
    page.reload()
    page.locator("#conversations-panel").get_by_role("button", name="Please count").click()
    expect(log(page)).to_contain_text("0 1 2 3 4 5")
    expect(page.get_by_text("Stopped", exact=True)).to_be_visible()
