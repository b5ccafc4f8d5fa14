"""Traces of earlier replies: a closed line below each, filled by the browser when it is opened.

The line is a message of the transcript. The trace is not: the page sends the transcript with
every question, and draws it as Markdown, which is not for what facts say.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from secrets import token_hex

from agent.reply_events import Reply
from ui.chat.trace_view import MODE_NAMES, finished
from ui.parts.escaping import as_html, counted, milliseconds

# Fills a line when it is opened. What came before stays, unless a whole conversation comes.
ON_OPEN = """
const traces = new Map();
const take = () => {
  if (element.querySelector('[data-whole]')) traces.clear();
  for (const each of element.querySelectorAll('i')) {
    traces.set(each.className, each.dataset.trace);
  }
};
new MutationObserver(take).observe(element, {childList: true, subtree: true, attributes: true});
document.addEventListener('toggle', ({target}) => {
  if (!target.matches('details.past') || target.childElementCount > 1) return;
  target.insertAdjacentHTML('beforeend', traces.get(target.classList[1]) ?? '');
}, true);
"""


@dataclass(frozen=True)
class PastReply:
    """A finished reply under a `key` that no other reply of a page has."""

    reply: Reply
    key: str = field(default_factory=lambda: f"r{token_hex(6)}")

    def line(self) -> str:
        """`KV · 182 ms to the first token · 3 facts used`, to be opened."""
        facts = counted(len(self.reply.facts), "fact")
        summary = (
            MODE_NAMES[self.reply.mode],
            f"{milliseconds(self.reply.e2e_ttft_ms)} to the first token",
            *([f"{facts} used"] if self.reply.facts else []),
        )
        line = " · ".join(summary)
        return f'<details class="past {self.key}"><summary>{line}</summary></details>'


def kept_traces(replies: Iterable[PastReply], *, whole: bool = False) -> str:
    """The traces of replies for the browser to keep. `whole`: it has no others to keep."""
    kept = "".join(
        f'<i class="{past.key}" data-trace="{as_html(finished(past.reply))}"></i>'
        for past in replies
    )
    return f"<div{' data-whole' if whole else ''}>{kept}</div>"
