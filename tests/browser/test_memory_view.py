"""The memory view in a browser: edit, undo, search, in and out, the sample, an end to it all."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.agent.agent_builder import Parts
from tests.browser.conftest import NARROW, page_of
from tests.ui.page_server import GRADIO_WARNINGS, Served

pytestmark = [pytest.mark.browser, *GRADIO_WARNINGS]

OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"


def open_memory(page: Page) -> None:
    page.get_by_role("button", name="Memory", exact=True).click()
    expect(page.get_by_role("textbox", name="Message")).to_be_hidden()


def add(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="New fact").fill(text)
    page.get_by_role("textbox", name="New fact").press("Enter")
    expect(page.get_by_role("textbox", name="New fact")).to_have_value("")
    expect(page.get_by_role("button", name=f"Details: {text}")).to_be_visible()


def test_a_fact_is_edited_by_keyboard_and_the_edit_undone(own_page: Page) -> None:
    page = own_page
    open_memory(page)
    add(page, "My dog is called Biskuit.")
    page.get_by_role("button", name="Details: My dog is called Biskuit.").click()
    box = page.get_by_role("textbox", name="Fact", exact=True)
    expect(box).to_be_focused()
    box.fill("My dog is called Biscuit.")
    box.press("Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_text("Added by hand")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Encoded: \d+ B of KV"))).to_be_visible()
    page.get_by_label("Show what held once").check()
    expect(page.get_by_text(re.compile("^Replaced, "))).to_be_visible()
    page.get_by_role("button", name="Undo last change").click()
    expect(box).to_have_value("My dog is called Biskuit.")


def test_search_finds_a_fact_and_the_count_says_of_how_many(own_page: Page) -> None:
    page = own_page
    open_memory(page)
    add(page, "I like plums.")
    add(page, "I like pears.")
    page.get_by_role("textbox", name="Search facts").fill("PLUM")
    expect(page.get_by_text("1 of 2 facts")).to_be_visible()
    expect(page.get_by_text("I like pears.")).to_have_count(0)


def test_facts_go_out_and_come_back_after_everything_was_forgotten(
    own_page: Page, tmp_path: Path
) -> None:
    page = own_page
    open_memory(page)
    add(page, "I like plums.")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Export as JSON").click()
    file = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(file)
    assert [fact["text"] for fact in json.loads(file.read_text())["facts"]] == ["I like plums."]

    page.get_by_role("button", name="Forget everything").click()
    expect(page.get_by_role("alert")).to_contain_text("to confirm")
    page.get_by_label("Type “forget everything” to confirm").fill("forget everything")
    page.get_by_role("button", name="Forget everything").click()
    expect(page.get_by_role("heading", name="Audit: Nothing is left.")).to_be_visible()
    expect(page.get_by_text("Nothing yet.")).to_be_visible()

    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("1 fact added")).to_be_visible()
    expect(page.get_by_role("button", name="Details: I like plums.")).to_be_visible()


def test_a_newcomer_tries_a_sample_person_on_a_phone_and_removes_it(
    browser: Browser, own_page: Page, shared_chat: Served[Parts]
) -> None:
    phone = page_of(browser, shared_chat.url, NARROW)
    open_memory(phone)
    phone.get_by_role("button", name="Load sample person").click()
    expect(phone.get_by_text("50 facts of a sample person added.")).to_be_visible()
    expect(phone.get_by_text("50 facts", exact=True)).to_be_visible()
    expect(phone.get_by_text("50 facts encoded,")).to_be_visible()
    assert phone.evaluate(OVERFLOW) <= 0
    phone.get_by_role("button", name="Remove it again").click()
    expect(phone.get_by_text("Nothing yet.")).to_be_visible()
    phone.context.close()
