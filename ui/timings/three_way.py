"""Measurement of one question: text from nothing, text from the prefix cache, injected KV."""

from collections.abc import AsyncGenerator

from app.comparison import WAYS, Measured, measure
from app.figures import Distribution
from app.public_errors import public_message
from app.service import ChatService
from memory_engine.errors import UnsupportedModelError, UserError
from ui.chat.reply_diff import difference
from ui.parts.escaping import as_html, counted, milliseconds
from ui.parts.page_states import Changes, error_message, status_message

NAMES = {"cold": "Text, cold", "warm": "Text, prefix cache warm", "kv": "KV injected"}


class ThreeWayMeasurement:
    """Handler of the measurement for `user`; nothing of it is remembered."""

    def __init__(self, service: ChatService, user: str) -> None:
        self._service = service
        self._user = user

    async def run(self, question: str, k: int) -> AsyncGenerator[Changes, None]:
        """Ask in the three ways, several times each, and show the medians as bars."""
        yield {"measured": status_message("Measuring…")}
        try:
            found = await measure(self._service, user=self._user, message=question, k=int(k))
        except (UserError, UnsupportedModelError) as error:
            yield {"measured": error_message(public_message(error))}
            return
        yield {"measured": _shown(found)}


def _shown(found: Measured) -> str:
    longest = max(times["median"] for times in found.ttft_ms.values()) or 1.0
    bars = "".join(_bar(way, found.ttft_ms[way], longest) for way in WAYS)
    agree = (
        '<p><span aria-hidden="true">=</span> The replies are identical.</p>'
        f'<p class="difference">{as_html(found.kv)}</p>'
        if found.text == found.kv
        else '<p><span aria-hidden="true">≠</span> The replies differ.</p>'
        f"{difference(found.text, found.kv)}"
    )
    return (
        f'<div class="measured" role="status">'
        f"<p><strong>KV is {found.speedup:.1f}x faster to first token than cold text</strong></p>"
        f'<dl class="bars">{bars}</dl>'
        f'<p class="quiet">Median time to the first token, n={found.n} each, '
        f"{counted(found.facts, 'fact')}; the order alternates, one warm-up dropped.</p>"
        f"{agree}</div>"
    )


def _bar(way: str, times: Distribution, longest: float) -> str:
    return (
        f'<div class="bar-row"><dt>{NAMES[way]}</dt><dd><span class="track" aria-hidden="true">'
        f'<span class="fill {way}" style="width:{100 * times["median"] / longest:.1f}%"></span>'
        f"</span><span>{milliseconds(times['median'])}"
        f' <span class="quiet">p90 {milliseconds(times["p90"])}</span></span></dd></div>'
    )
