"""The page itself: on a phone, in the dark, by keyboard, and without the outside world."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.agent.agent_builder import Parts
from tests.ui.page_server import GRADIO_WARNINGS, Served

pytestmark = [pytest.mark.browser, *GRADIO_WARNINGS]

OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
UNLABELLED = """
[...document.querySelectorAll('input, textarea, button, select')]
  .filter((e) => e.offsetParent !== null)
  .filter((e) => !(e.labels?.length || e.ariaLabel || e.title || e.textContent.trim()))
  .map((e) => e.outerHTML.slice(0, 120))
"""


def fill(page: Page) -> None:
    box = page.get_by_role("textbox", name="Message")
    box.fill("My dog is called Biscuit " + "averyveryverylongword" * 12)
    box.press("Enter")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    expect(page.get_by_role("log").first).to_contain_text("Nice to know.")


def test_a_phone_shows_one_panel_at_a_time_without_sideways_scrolling(own_phone: Page) -> None:
    phone = own_phone
    fill(phone)
    assert phone.evaluate(OVERFLOW) <= 0
    for panel, shown in (
        ("Memory", "What I know about you"),
        ("Conversations", "New conversation"),
    ):
        phone.get_by_role("button", name=panel, exact=True).click()
        expect(phone.get_by_text(shown)).to_be_visible()
        expect(phone.get_by_role("textbox", name="Message")).to_be_hidden()
        assert phone.evaluate(OVERFLOW) <= 0
    phone.get_by_role("button", name="New conversation").click()
    expect(phone.get_by_role("textbox", name="Message")).to_be_visible()


def test_on_a_phone_the_panes_stack(own_phone: Page) -> None:
    phone = own_phone
    phone.get_by_role("radio", name="Side by side").check()
    fill(phone)
    upper, lower = (phone.get_by_role("log").nth(n).bounding_box() for n in (0, 1))
    assert upper is not None
    assert lower is not None
    assert lower["y"] > upper["y"] + upper["height"]
    assert upper["width"] == lower["width"]
    assert phone.evaluate(OVERFLOW) <= 0


def test_every_control_has_a_name(own_page: Page) -> None:
    page = own_page
    fill(page)
    page.get_by_role("radio", name="Side by side").check()
    expect(page.get_by_role("log")).to_have_count(2)
    assert page.evaluate(UNLABELLED) == []


def test_focus_is_visible(own_page: Page) -> None:
    page = own_page
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            "(e => e.tagName === 'BODY' || e.type === 'radio' ? 'skip' :"
            " getComputedStyle(e).outlineStyle)(document.activeElement)"
        )
        assert outline != "none"


def test_a_dark_page_has_light_text(browser: Browser, shared_chat: Served[Parts]) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(shared_chat.url)
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=20_000)
    text, ground = page.evaluate(
        "(s => [s.color, s.backgroundColor].map((c) => c.match(/\\d+/g).slice(0, 3)"
        ".reduce((a, b) => a + Number(b), 0)))(getComputedStyle(document.body))"
    )
    assert text > ground + 300
    context.close()


def test_nothing_is_fetched_from_elsewhere(browser: Browser, shared_chat: Served[Parts]) -> None:
    context = browser.new_context()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(shared_chat.url)
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=20_000)
    page.wait_for_timeout(500)
    outside = [url for url in asked if not url.startswith((shared_chat.url, "data:", "blob:"))]
    assert outside == []
    assert len(asked) > 5
    context.close()


@pytest.mark.parametrize("chat", [{"delay": 1.5}], indirect=True)
def test_the_stopwatch_runs_until_the_first_token(page: Page) -> None:
    page.get_by_role("textbox", name="Message").fill("Hello")
    page.keyboard.press("Enter")
    watch = page.get_by_role("timer")
    expect(watch).to_be_visible()
    shown = "e => Number(getComputedStyle(e).getPropertyValue('--ms'))"
    first = watch.evaluate(shown)
    page.wait_for_timeout(200)
    assert watch.evaluate(shown) > first + 100
    expect(watch).to_have_count(0)
    expect(page.locator("#chat-panel").get_by_text("to the first token")).to_be_visible()
