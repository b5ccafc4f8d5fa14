"""axe-core finds nothing serious on any view, in light and in dark."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_chatting import facts_used, finished, say
from tests.browser.test_conversation_actions import converse
from tests.ui.page_server import GRADIO_WARNINGS

pytestmark = [pytest.mark.browser, *GRADIO_WARNINGS]


def violations(page: Page) -> list[str]:
    """The rules that are broken seriously, in light and in dark, with the first place of each."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = []
    for dark in (False, True):
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        page.wait_for_timeout(300)  # colours change gradually
        found += axe.run(page).response["violations"]
    return [
        f"{rule['id']}: {rule['nodes'][0]['html'][:160]}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]


def test_no_view_has_a_serious_violation(own_page: Page) -> None:
    page = own_page
    converse(page, "My dog is called Biscuit")
    expect(page.locator("#memory-panel")).to_contain_text("Biscuit.")
    found = {"chat": violations(page)}
    page.get_by_role("button", name="Memory", exact=True).click()
    page.get_by_role("button", name="Details: My dog is called Biscuit.").click()
    expect(page.get_by_role("textbox", name="Fact", exact=True)).to_be_visible()
    found["memory"] = violations(page)
    page.get_by_role("button", name="Timings", exact=True).click()
    page.get_by_role("button", name="Measure").click()
    expect(page.get_by_text("The replies are identical.")).to_be_visible()
    found["timings"] = violations(page)
    assert found == {"chat": [], "memory": [], "timings": []}


def test_replies_that_used_facts_have_no_serious_violation(own_page: Page) -> None:
    page = own_page
    converse(page, "My dog is called Biscuit")
    expect(page.locator("#memory-panel")).to_contain_text("Biscuit.")
    found = {}
    for mode, panes in (("KV", 1), ("Side by side", 2)):
        page.get_by_role("radio", name=mode, exact=True).check()
        page.get_by_role("button", name="New conversation").click()
        expect(page.get_by_role("log")).to_have_count(panes)
        say(page, "What is my dog's name?")
        expect(facts_used(page)).to_have_count(panes)
        finished(page)
        found[f"{mode}, closed"] = violations(page)
        for pane in range(panes):
            facts_used(page).nth(pane).click()
        found[f"{mode}, open"] = violations(page)
    say(page, "And my dog's name again?")
    expect(page.locator("details.past:visible")).to_have_count(2)
    finished(page)
    found["earlier, closed"] = violations(page)
    for earlier in page.locator("details.past:visible").all():
        earlier.locator("summary").first.click()
        earlier.locator(".facts-used summary").click()
    found["earlier, open"] = violations(page)
    assert not any(found.values()), found
