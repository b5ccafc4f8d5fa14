"""Private chat with the bundled model, and a browser that opens it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect, sync_playwright

_STARTS_WITHIN = 600_000  # milliseconds: the first start prepares the model


@contextmanager
def chat() -> Iterator[str]:
    """Serve a chat over an empty memory and yield its URL; both end with the block."""
    with tempfile.TemporaryDirectory(prefix="inferscale-") as folder:
        environment = os.environ | {"INFERSCALE_DATA_DIR": folder, "INFERSCALE_PORT": "0"}
        command = [sys.executable, "-m", "inferscale"]
        subprocess.run([*command, "migrate"], env=environment, check=True)
        serving = subprocess.Popen(
            [*command, "serve"], env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert serving.stdout is not None
            told = serving.stdout.readline()
            if not told:
                raise SystemExit("The chat did not start; the reason is above.")
            yield told.split()[-1]
        finally:
            serving.terminate()
            serving.wait()


@contextmanager
def browser() -> Iterator[Browser]:
    """Start Chromium without a window."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise SystemExit("Chromium is not installed (apt-get install chromium).")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


def page_of(browser: Browser, url: str, width: int = 1280, height: int = 800) -> Page:
    """Open a page of the chat at `url`, ready for a message."""
    page = browser.new_context(
        viewport={"width": width, "height": height}, locale="en-GB"
    ).new_page()
    page.goto(url)
    expect(page.get_by_role("textbox", name="Message")).to_be_visible(timeout=_STARTS_WITHIN)
    # The lists come with the load event, after which the page listens.
    expect(page.locator("#conversations-panel .quiet, #conversations-panel ul")).not_to_have_count(
        0
    )
    return page


def load_sample_person(page: Page) -> None:
    """Teach the fifty facts, and wait until all of them are encoded."""
    page.get_by_role("button", name="Memory", exact=True).click()
    page.get_by_role("button", name="Load sample person").click()
    encoded = page.get_by_text("50 facts encoded", exact=False)
    expect(encoded).to_be_visible(timeout=120_000)
    expect(page.get_by_text("not encoded yet")).to_have_count(0, timeout=120_000)
