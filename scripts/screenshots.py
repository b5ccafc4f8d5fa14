"""Screenshots of README.md: the chat and the memory over the bundled model.

python -m scripts.screenshots
"""

import re

from playwright.sync_api import Page, ViewportSize, expect

from scripts.chat_in_browser import browser, chat, load_sample_person, page_of
from scripts.readme import ROOT

IMAGES = ROOT / "docs" / "images"
WIDE, NARROW = ViewportSize(width=1280, height=860), ViewportSize(width=360, height=780)
QUESTION = "What is the name of my cat?"


def main() -> None:
    """Take pictures of the sample person's memory, and of both modes asked about her cat."""
    with chat() as url, browser() as chromium:
        page = page_of(chromium, url, **WIDE)
        load_sample_person(page)
        page.get_by_role("button", name=re.compile("^Details: ")).first.click()
        expect(page.get_by_role("textbox", name="Fact", exact=True)).to_be_visible()
        _pictures(page, "memory")
        page.get_by_role("button", name="Close", exact=True).click()
        page.get_by_role("button", name="Chat", exact=True).click()
        page.get_by_role("radio", name="Side by side").check()
        _compare(page, QUESTION)
        _pictures(page, "side-by-side")


def _compare(page: Page, question: str) -> None:
    box = page.get_by_role("textbox", name="Message")
    box.fill(question)
    box.press("Enter")
    verdict = page.get_by_role("status").filter(has_text="to first token")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(verdict).to_be_visible(timeout=120_000)


def _pictures(page: Page, name: str) -> None:
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        for dark in (False, True):
            page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(500)  # colours change gradually
            page.screenshot(
                path=IMAGES / f"{name}-{size['width']}{'-dark' if dark else ''}.png",
                animations="disabled",
            )
    page.evaluate("document.body.classList.remove('dark')")
    page.set_viewport_size(WIDE)


if __name__ == "__main__":
    main()
