"""What the page adds to the engine's time to the first token, seen in a browser.

python -m scripts.overhead [--n 30]
"""

import argparse
import json
import re
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, expect

from app.figures import Distribution, distribution
from scripts.chat_in_browser import browser, chat, load_sample_person, page_of

WARM_UPS = 2
# Seconds between a reply's end and the next message: nobody asks faster on a page.
THINKS_S = 2.0

# From the key that sends to the frame that shows the first word of a reply that was not there.
_WATCH = """
() => {
  const replies = () => [...document.querySelectorAll('#left-pane [data-testid="bot"]')]
    .filter((reply) => reply.textContent.trim());
  const before = replies().length;
  window.firstWordAfter = null;
  document.addEventListener('keydown', () => {
    const sent = performance.now();
    const observer = new MutationObserver(() => {
      if (replies().length <= before) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => {
        window.firstWordAfter = performance.now() - sent;
      }));
    });
    observer.observe(document.querySelector('#left-pane'),
      {childList: true, subtree: true, characterData: true});
  }, {capture: true, once: true});
}
"""
_HEADLINE = re.compile(r"([\d.]+) (m?s) to the first token \(engine ([\d.]+) (m?s)\)")


@dataclass(frozen=True, slots=True)
class Seen:
    """Times of one message in ms: to the first word on the screen, and the server's account."""

    visible: float
    server: float  # from the message to the first token, the engine's part included
    engine: float

    @property
    def overhead(self) -> float:
        """What is not the engine's."""
        return self.visible - self.engine

    @property
    def browser(self) -> float:
        """What is not the server's: sending the message, and drawing the first word."""
        return self.visible - self.server


def ask(page: Page, message: str) -> Seen:
    """Send `message` on an open chat page and wait for the whole reply."""
    box = page.get_by_role("textbox", name="Message")
    box.fill(message)
    page.evaluate(_WATCH)
    box.press("Enter")
    page.wait_for_function("window.firstWordAfter !== null", timeout=60_000)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible(timeout=60_000)
    found = _HEADLINE.search(page.locator("#left-pane .ttft").inner_text())
    assert found, "the account of the reply tells its times"
    server, engine = (float(found[n]) * (1000 if found[n + 1] == "s" else 1) for n in (1, 3))
    return Seen(page.evaluate("window.firstWordAfter"), server, engine)


def measure(
    page: Page, n: int, message: str = "What is my dog's name?", thinks_s: float = THINKS_S
) -> list[Seen]:
    """`n` messages one after the other, after warm-ups that are dropped."""
    seen = []
    for _ in range(n + WARM_UPS):
        page.wait_for_timeout(1000 * thinks_s)
        seen.append(ask(page, message))
    return seen[WARM_UPS:]


def report(seen: list[Seen]) -> dict[str, Any]:
    """Medians and percentiles in ms."""
    found: dict[str, Distribution] = {
        name: distribution([getattr(each, name) for each in seen])
        for name in ("overhead", "browser", "visible", "server", "engine")
    }
    return {"n": len(seen), "warm_ups_dropped": WARM_UPS, "ms": found}


def as_table(found: dict[str, Any]) -> str:
    """The report as Markdown."""
    rows = [
        f"| {name} | " + " | ".join(f"{ms[key]:.0f}" for key in ("median", "p90", "p99")) + " |"
        for name, ms in found["ms"].items()
    ]
    head = f"| ms, n={found['n']} | median | p90 | p99 |\n| --- | --- | --- | --- |"
    return "\n".join([head, *rows])


def main() -> None:
    """Ask the bundled model about the sample person; print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=30)
    given = parser.parse_args()
    with chat() as url, browser() as chromium:
        page = page_of(chromium, url)
        load_sample_person(page)
        page.get_by_role("button", name="Chat", exact=True).click()
        found = report(measure(page, given.n, "What is the name of my cat?"))
    print(as_table(found))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
