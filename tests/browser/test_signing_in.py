"""Signing in and out in a browser, by mouse and by keyboard, and two people at once."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.auth.accounts import Accounts
from app.settings import Settings
from tests.agent.agent_builder import Parts, opened, url_of
from tests.browser.conftest import NARROW, WIDE, answer
from tests.browser.test_accessibility import violations
from tests.browser.test_chatting import finished, log, say
from tests.browser.test_conversation_actions import converse
from tests.browser.test_devices import OVERFLOW
from tests.ui.page_server import GRADIO_WARNINGS, Served, served

pytestmark = [pytest.mark.browser, *GRADIO_WARNINGS]

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served[Parts]]:
    """A chat with the accounts of ann and bob."""
    folder: Path = tmp_path_factory.mktemp("home")

    @asynccontextmanager
    async def open_it() -> AsyncIterator[Parts]:
        async with opened(url_of(folder), reply=answer) as parts:
            for name in ("ann", "bob"):
                await Accounts(parts.database).add(name, PASSWORD)
            yield parts

    with served(open_it, lambda parts: parts.service, Settings(auth="accounts")) as page:
        yield page


def door(
    browser: Browser, home: Served[Parts], size: dict[str, int] = WIDE, *, script: bool = True
) -> Iterator[Page]:
    context = browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        locale="en-GB",
        java_script_enabled=script,
    )
    page = context.new_page()
    page.goto(home.url)
    yield page
    context.close()


@pytest.fixture
def page(browser: Browser, home: Served[Parts]) -> Iterator[Page]:
    yield from door(browser, home)


@pytest.fixture
def other(browser: Browser, home: Served[Parts]) -> Iterator[Page]:
    yield from door(browser, home)


@pytest.fixture
def phone(browser: Browser, home: Served[Parts]) -> Iterator[Page]:
    yield from door(browser, home, NARROW)


@pytest.fixture
def plain(browser: Browser, home: Served[Parts]) -> Iterator[Page]:
    yield from door(browser, home, script=False)


def sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def ready(page: Page, name: str) -> None:
    """The chat is there, and it is that of `name`."""
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=20_000)
    expect(page.locator("#who")).to_contain_text(f"Signed in as {name}", timeout=20_000)


def test_two_people_at_once_see_only_what_is_theirs(page: Page, other: Page) -> None:
    for each, name in ((page, "ann"), (other, "bob")):
        sign_in(each, name)
        ready(each, name)
    say(page, "My dog is called Biscuit")
    finished(page)
    expect(page.locator("#memory-panel")).to_contain_text("Biscuit.")
    say(other, "What is my dog's name?")
    expect(log(other)).to_contain_text("I do not know.")
    other.reload()
    ready(other, "bob")
    expect(other.locator("#conversations-panel")).to_contain_text("What is my dog's name?")
    expect(other.locator("body")).not_to_contain_text("My dog is called Biscuit.")
    expect(other.locator("#memory-panel")).to_contain_text("Nothing yet.")
    page.get_by_role("button", name="New conversation").click()
    say(page, "What is my dog's name?")
    expect(log(page)).to_contain_text("Your dog is called Biscuit.")


def test_a_wrong_password_is_said_and_the_name_kept(page: Page) -> None:
    sign_in(page, "ann", "wrong")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    expect(page.get_by_label("Name")).to_have_value("ann")
    expect(page.get_by_label("Password")).to_be_focused()
    expect(page.get_by_label("Password")).to_have_value("")


def test_who_signs_out_has_to_sign_in_again(page: Page, home: Served[Parts]) -> None:
    sign_in(page, "bob")
    ready(page, "bob")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to InferScale")).to_be_visible()
    page.goto(home.url)
    expect(page.get_by_label("Password")).to_be_visible()
    page.go_back()
    page.go_back()
    expect(page.get_by_label("Password")).to_be_visible()


def test_a_tab_of_before_says_so_and_does_not_become_anothers(
    page: Page, home: Served[Parts]
) -> None:
    sign_in(page, "ann")
    ready(page, "ann")
    second = page.context.new_page()
    second.goto(home.url)
    second.get_by_role("button", name="Sign out").click()
    sign_in(second, "bob")
    ready(second, "bob")
    say(page, "My dog is called Rex")
    expect(page.get_by_role("alert")).to_contain_text("You are not signed in here any more.")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("My dog is called Rex")
    page.get_by_role("link", name="Load the page again").click()
    ready(page, "bob")
    expect(page.locator("body")).not_to_contain_text("Rex")


def test_signing_in_needs_no_mouse(page: Page) -> None:
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("bob")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Sign in")).to_be_focused()
    page.keyboard.press("Enter")
    ready(page, "bob")


def test_signing_in_needs_no_script(plain: Page, home: Served[Parts]) -> None:
    sign_in(plain, "ann", "wrong")
    expect(plain.get_by_role("alert")).to_be_visible()
    sign_in(plain, "ann")
    expect(plain).to_have_url(f"{home.url}/")


def test_on_a_phone_signing_in_and_out_fits(phone: Page) -> None:
    assert phone.evaluate(OVERFLOW) <= 0
    sign_in(phone, "ann", "wrong")
    expect(phone.get_by_role("alert")).to_be_visible()
    assert phone.evaluate(OVERFLOW) <= 0
    sign_in(phone, "ann")
    expect(phone.get_by_role("textbox", name="Message")).to_be_visible(timeout=20_000)
    phone.get_by_role("button", name="Conversations", exact=True).click()
    expect(phone.get_by_role("button", name="Sign out")).to_be_visible()
    assert phone.evaluate(OVERFLOW) <= 0


def test_a_password_is_changed_by_keyboard_and_its_form_fits_and_is_accessible(
    phone: Page, home: Served[Parts]
) -> None:
    page, new = phone, "another long secret"
    home.wait(Accounts(home.opened.database).add("eve", PASSWORD))
    sign_in(page, "eve")
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Conversations", exact=True).click()
    page.get_by_role("link", name="Change password").click()
    expect(page.get_by_label("Current password")).to_be_focused()
    for typed in (PASSWORD, new, new[:-1]):
        page.keyboard.type(typed)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("New password again")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text("Type both again.")
    assert page.evaluate(OVERFLOW) <= 0
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    for label, typed in (("Current password", PASSWORD), ("New password", new)):
        page.get_by_label(label, exact=True).fill(typed)
    page.get_by_label("New password again").fill(new)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your password is changed")).to_be_visible()
    page.get_by_role("link", name="Back to the chat").click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=20_000)


def test_signing_in_has_no_serious_violation(page: Page) -> None:
    found = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found[scheme] = violations(page)
        sign_in(page, "ann", "wrong")
        expect(page.get_by_role("alert")).to_be_visible()
        found[f"{scheme}, wrong"] = violations(page)
    assert {view: rules for view, rules in found.items() if rules} == {}
    sign_in(page, "bob")
    ready(page, "bob")
    converse(page, "Hello")
    assert violations(page) == []
