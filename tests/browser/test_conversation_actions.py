"""Actions on a conversation in a browser, by mouse and by keyboard."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.agent.agent_builder import Parts
from tests.browser.conftest import WIDE, page_of
from tests.browser.test_chatting import finished, log, say
from tests.ui.page_server import GRADIO_WARNINGS, Served

pytestmark = [pytest.mark.browser, *GRADIO_WARNINGS]


def told(shared_chat: Served[Parts]) -> list[str]:
    service = shared_chat.opened.service
    [conversation] = shared_chat.wait(service.conversations("ann"))
    return [m.content for m in shared_chat.wait(service.messages("ann", conversation.id))]


def converse(page: Page, text: str) -> None:
    say(page, text)
    expect(log(page)).to_contain_text("Nice to know.")
    finished(page)


def test_a_reply_is_regenerated_a_message_edited_and_an_exchange_undone(
    own_page: Page, shared_chat: Served[Parts]
) -> None:
    page = own_page
    expect(page.get_by_role("button", name="Regenerate")).to_be_hidden()
    converse(page, "My dog is called Biskuit")
    expect(page.locator("#memory-panel")).to_contain_text("Biskuit.")
    page.get_by_role("button", name="Regenerate").click()
    expect(log(page).get_by_text("Nice to know.", exact=True)).to_have_count(1)
    finished(page)
    assert told(shared_chat) == ["My dog is called Biskuit", "Nice to know."]

    page.get_by_role("button", name="Edit message").click()
    box = page.get_by_role("textbox", name="Message")
    expect(box).to_have_value("My dog is called Biskuit")
    expect(page.get_by_text("Sending replaces your last message.")).to_be_visible()
    say(page, "My dog is called Biscuit")
    expect(page.locator("#memory-panel")).to_contain_text("Biscuit.")
    expect(page.locator("#memory-panel")).not_to_contain_text("Biskuit.")
    expect(page.get_by_text("Sending replaces your last message.")).to_be_hidden()
    assert told(shared_chat) == ["My dog is called Biscuit", "Nice to know."]

    page.get_by_role("button", name="Undo exchange").click()
    expect(page.locator("#memory-panel")).to_contain_text("Nothing yet.")
    expect(log(page)).not_to_contain_text("Nice to know.")
    assert told(shared_chat) == []


def test_enter_sends_shift_enter_breaks_the_line_and_escape_stops(
    own_page: Page, shared_chat: Served[Parts]
) -> None:
    page = own_page
    box = page.get_by_role("textbox", name="Message")
    box.press_sequentially("Please")
    box.press("Shift+Enter")
    box.press_sequentially("count")
    expect(box).to_have_value("Please\ncount")
    box.press("Enter")
    expect(log(page)).to_contain_text("3 4 5")
    page.keyboard.press("Escape")
    finished(page)
    expect(page.get_by_text("Stopped", exact=True)).to_be_visible()
    message, reply = told(shared_chat)
    assert message == "Please\ncount"
    assert "399" not in reply


def test_a_conversation_is_found_renamed_exported_and_deleted(
    own_page: Page, tmp_path: Path
) -> None:
    page = own_page
    converse(page, "My dog is called Biscuit")
    page.get_by_role("button", name="New conversation").click()
    expect(log(page)).not_to_contain_text("Nice to know.")
    converse(page, "Hello")
    panel = page.locator("#conversations-panel")
    page.get_by_role("textbox", name="Search conversations").fill("biscuit")
    expect(panel.get_by_role("listitem")).to_have_count(1)
    panel.get_by_role("button", name=re.compile("My dog")).click()
    panel.get_by_text("Rename, export or delete").click()
    panel.get_by_role("textbox", name="Title").fill("Dogs")
    panel.get_by_role("button", name="Rename", exact=True).click()
    expect(panel.get_by_role("button", name=re.compile("^Dogs"))).to_be_visible()
    panel.get_by_text("Rename, export or delete").click()
    with page.expect_download() as downloading:
        panel.get_by_role("button", name="Export", exact=True).click()
    assert downloading.value.suggested_filename == "dogs.md"
    downloading.value.save_as(tmp_path / "dogs.md")
    assert "My dog is called Biscuit" in (tmp_path / "dogs.md").read_text()
    panel.get_by_text("Delete", exact=True).click()
    panel.get_by_role("button", name="Yes, delete").click()
    expect(panel.get_by_text("No conversation says that.")).to_be_visible()
    expect(page.locator("#memory-panel")).to_contain_text("Nothing yet.")
    expect(log(page)).not_to_contain_text("Nice to know.")


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_conversation_opened_in_mid_reply_stays_on_a_slow_machine(
    own_page: Page, shared_chat: Served[Parts], *, goes_on: bool
) -> None:
    page, panel = own_page, own_page.locator("#conversations-panel")
    converse(page, "Hello")
    page.get_by_role("button", name="New conversation").click()
    expect(log(page)).not_to_contain_text("Nice to know.")
    slow = page.context.new_cdp_session(page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    say(page, "Please count")
    expect(log(page)).to_contain_text("3 4 5")
    panel.get_by_role("button", name=re.compile("^Hello")).click()
    expect(log(page)).to_contain_text("Nice to know.")
    if goes_on:
        say(page, "Thank you")
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    # What was left of the reply is drawn after it, and then the conversation once more.
    page.wait_for_timeout(1000)
    expect(log(page)).to_have_text(re.compile("^((?!3 4 5).)*Nice to know", re.DOTALL))
    expect(page.get_by_role("button", name="Regenerate")).to_be_visible()
    if goes_on:
        expect(log(page)).to_contain_text("Thank you")
        expect(log(page).get_by_text("Nice to know.")).to_have_count(2)


def test_with_memory_off_nothing_said_is_remembered(own_page: Page) -> None:
    page = own_page
    page.get_by_role("button", name="Memory and facts to recall").click()
    page.get_by_label("Memory in this conversation").uncheck()
    converse(page, "My dog is called Biscuit")
    expect(page.locator("#conversations-panel")).to_contain_text("memory off")
    expect(page.locator("#memory-panel")).to_contain_text("Nothing yet.")
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_label("Memory in this conversation")).to_be_checked()


def test_formulas_and_code_are_drawn(
    browser: Browser, own_page: Page, shared_chat: Served[Parts]
) -> None:
    reply = "So $$a < b$$ and \\(c\\).\n\n```python\nprint('<b>')\n```"
    service = shared_chat.opened.service
    shared_chat.wait(service.teach("ann", "Show it", reply, []))
    page = page_of(browser, shared_chat.url, WIDE)
    page.get_by_role("button", name=re.compile("Show it")).click()
    expect(log(page).locator(".katex")).to_have_count(2)
    expect(log(page).locator("code")).to_contain_text("print('<b>')")
    page.context.close()


def test_times_are_drawn_and_a_question_measured(own_page: Page) -> None:
    page = own_page
    page.get_by_role("radio", name="Side by side").check()
    say(page, "Hello")
    expect(page.get_by_role("status").filter(has_text="to first token")).to_be_visible()
    page.get_by_role("button", name="Timings", exact=True).click()
    expect(page.get_by_role("img", name=re.compile("first token by turn"))).to_be_visible()
    for mode in ("Text", "KV"):
        expect(page.get_by_role("row", name=re.compile(rf"^{mode} 1 "))).to_be_visible()
    page.get_by_role("button", name="Measure").click()
    expect(page.get_by_text("Text, prefix cache warm")).to_be_visible()
    expect(page.get_by_text("The replies are identical.")).to_be_visible()


def test_the_number_of_facts_and_both_at_once_can_be_chosen(own_page: Page) -> None:
    page = own_page
    converse(page, "My dog is called Biscuit")
    page.get_by_role("button", name="Memory and facts to recall").click()
    page.get_by_role("spinbutton", name=re.compile("Facts to recall")).fill("0")
    page.get_by_label("Side by side: both at once").check()
    page.get_by_role("radio", name="Side by side", exact=True).check()
    page.get_by_role("button", name="New conversation").click()
    say(page, "What is my dog's name?")
    strip = page.get_by_role("status").filter(has_text="to first token")
    expect(strip).to_contain_text("Both ran at once and slowed each other down")
    for number in (0, 1):
        expect(log(page, number)).to_contain_text("I do not know.")
