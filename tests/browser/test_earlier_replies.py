"""Earlier replies keep their traces in a browser: by keyboard, after a reload, in both panes."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_chatting import finished, log, say
from tests.ui.page_server import GRADIO_WARNINGS

pytestmark = [pytest.mark.browser, *GRADIO_WARNINGS]

LINE = r"KV · \d+(\.\d+)? m?s to the first token"
TOLD = r"My dog is called Biscuit\. \(.*injected; you said: “My dog is called Biscuit”\)"


def ask(page: Page, text: str, answer: str, times: int = 1) -> None:
    """Ask, and wait until `answer` was given for the `times`-th time in each pane."""
    say(page, text)
    for pane in page.get_by_role("log").all():
        expect(pane.get_by_text(answer, exact=True)).to_have_count(times)
    finished(page)


def lines(page: Page, pane: int = 0) -> Locator:
    """The texts below the earlier replies."""
    return log(page, pane).locator("details.past:visible")


def opened_by_keyboard(page: Page) -> None:
    expect(lines(page)).to_have_text(
        [re.compile(f"^{LINE}$"), re.compile(f"^{LINE} · 1 fact used$")]
    )
    line = lines(page).nth(1)
    line.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(line).to_contain_text(re.compile(r"Prompt of \d+ tokens: [1-9]\d* injected"))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(line.get_by_role("list", name="Facts used")).to_have_text(re.compile(TOLD))


def test_earlier_replies_keep_their_accounts_and_have_them_after_a_reload(own_page: Page) -> None:
    page = own_page
    ask(page, "My dog is called Biscuit", "Nice to know.")
    expect(page.locator("#memory-panel")).to_contain_text("My dog is called Biscuit.")
    ask(page, "What is my dog's name?", "Your dog is called Biscuit.")
    ask(page, "And my dog's name again?", "Your dog is called Biscuit.", 2)
    opened_by_keyboard(page)
    expect(log(page).get_by_role("button", name="Copy message")).to_have_count(6)

    page.reload()
    kept = page.locator("#conversations-panel").get_by_role("button")
    kept.filter(has_text="My dog is called Biscuit").click()
    opened_by_keyboard(page)
    below = page.locator("#left-pane > .trace")
    expect(below).to_contain_text("1 fact used: 1 injected as KV")


def test_what_was_opened_stays_open_while_the_next_reply_comes(own_page: Page) -> None:
    page = own_page
    ask(page, "Hello", "Nice to know.")
    ask(page, "Good day", "Nice to know.", 2)
    lines(page).first.locator("summary").click()
    told = lines(page).first.get_by_text(re.compile("^KV. Prompt of"))
    expect(told).to_be_visible()
    ask(page, "Good night", "Nice to know.", 3)
    expect(lines(page)).to_have_count(2)
    expect(told).to_be_visible()


def test_side_by_side_each_pane_has_the_accounts_of_its_mode(own_page: Page) -> None:
    page = own_page
    page.get_by_role("radio", name="Side by side").check()
    expect(page.get_by_role("log")).to_have_count(2)
    ask(page, "Hello", "Nice to know.")
    expect(lines(page, 0)).to_have_count(0)
    ask(page, "Good day", "Nice to know.", 2)
    for pane, mode in ((0, "Text"), (1, "KV")):
        lines(page, pane).locator("summary").click()
        expect(lines(page, pane)).to_contain_text(f"{mode}. Prompt of")
    page.get_by_role("radio", name="KV", exact=True).check()
    expect(page.get_by_role("log")).to_have_count(1)
    expect(lines(page)).to_have_text([re.compile("^KV"), re.compile("^KV")])
