"""The trace of a reply as HTML: a stopwatch until the first token, then where the time went."""

from textwrap import shorten

from agent.reply_events import FirstToken, Reply, UsedFact
from memory_engine.types import Mode
from ui.chat.reply_diff import difference
from ui.parts.escaping import as_html, counted, day, milliseconds

SOURCE_SHOWN = 160  # characters: enough to know a message again
MODE_NAMES = {Mode.TEXT: "Text", Mode.KV: "KV"}


def waiting() -> str:
    """A stopwatch that runs in the browser, so that it costs the engine nothing."""
    return (
        '<p class="ttft"><span role="timer" class="stopwatch" aria-label="Waiting time"></span> '
        "waiting for the first token</p>"
    )


def queued(first: Mode) -> str:
    """The line of the second pane while the first one answers."""
    return f'<p class="ttft quiet">Starts when {MODE_NAMES[first]} is done</p>'


def first_token(first: FirstToken) -> str:
    """The line frozen at the first token."""
    return f'<p class="ttft">{_headline(first.ttft_ms, first.e2e_ttft_ms)}</p>'


def finished(reply: Reply) -> str:
    """The frozen line, the stacked times, the token counts, the facts used and those left out."""
    left_out = (
        f'<p class="left-out">{counted(reply.left_out, "more fact")} did not fit the '
        "model's context and had to be left out.</p>"
        if reply.left_out
        else ""
    )
    return (
        f'<p class="ttft">{_headline(reply.ttft_ms, reply.e2e_ttft_ms)}</p>'
        f"{_stack(reply)}{_tokens(reply)}{left_out}{facts_used(reply)}"
    )


def stopped(before: str) -> str:
    """The trace of a turn that the user stopped, from its trace until then."""
    mark = '<p class="tokens stopped">Stopped</p>'
    return before + mark if "<strong>" in before else mark


def _headline(ttft_ms: float, e2e_ttft_ms: float) -> str:
    return (
        f"<strong>{milliseconds(e2e_ttft_ms)}</strong> to the first token"
        f' <span class="quiet">(engine {milliseconds(ttft_ms)})</span>'
    )


def _stack(reply: Reply) -> str:
    timings = reply.timings
    parts = {
        "recall": timings.recall_ms,
        "plan": timings.plan_ms,
        "queue": timings.queue_ms,
        "prefill": timings.prefill_ms,
    }
    total = sum(parts.values()) or 1.0
    bar = "".join(
        f'<span class="part {name}" style="width:{100 * value / total:.1f}%"></span>'
        for name, value in parts.items()
    )
    legend = "".join(
        f'<li><span class="dot {name}" aria-hidden="true"></span>{name} {milliseconds(value)}</li>'
        for name, value in parts.items()
    )
    return f'<div class="stack" aria-hidden="true">{bar}</div><ul class="legend">{legend}</ul>'


def _tokens(reply: Reply) -> str:
    counts = {
        "injected": reply.injected_tokens,
        "cached": reply.cached_tokens,
        "prefilled": reply.prefilled_tokens,
    }
    parts = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    each = f", {milliseconds(reply.tpot_ms)} each (TPOT)" if reply.output_tokens > 1 else ""
    return (
        f'<p class="tokens"><strong>{MODE_NAMES[reply.mode]}</strong>. '
        f"Prompt of {counted(reply.prompt_tokens, 'token')}: {parts}. "
        f"Reply of {counted(reply.output_tokens, 'token')}{each}.</p>"
    )


def facts_used(reply: Reply) -> str:
    """`3 facts used: 2 injected as KV, 1 sent as text`, which opens the facts in prompt order."""
    if not reply.facts:
        return ""
    facts = "".join(f"<li>{_fact(fact)}</li>" for fact in reply.facts)
    # A list that scrolls must be reachable by keyboard.
    return (
        f'<details class="facts-used"><summary>{_facts_title(reply)}</summary>'
        f'<ul tabindex="0" aria-label="Facts used">{facts}</ul></details>'
    )


def _facts_title(reply: Reply) -> str:
    injected = sum(fact.injected for fact in reply.facts)
    as_text = len(reply.facts) - injected
    ways = [f"{injected} injected as KV"] * bool(injected) + [f"{as_text} sent as text"] * bool(
        as_text
    )
    return f"{counted(len(reply.facts), 'fact')} used: {', '.join(ways)}"


def _fact(fact: UsedFact) -> str:
    way = "injected" if fact.injected else "as text"
    date = f"{day(fact.when)}, " if fact.when else ""
    if not fact.text:
        return f'<span class="quiet">a fact that was forgotten since ({way})</span>'
    how = f"({date}{way}; {_source(fact.source)})"
    return f'{as_html(fact.text)} <span class="quiet">{as_html(how)}</span>'


def _source(said: str) -> str:
    if not said:
        return "added by hand"
    return f"you said: “{shorten(said, SOURCE_SHOWN, placeholder=' …')}”"


def verdict(first: Reply, second: Reply, *, at_once: bool = False, so_far: str = "") -> str:
    """Compare two modes, in the order they ran: time to first token, and agreement.

    `so_far` says the same of all comparisons of the page.
    """
    slow, fast = (first, second) if first.ttft_ms >= second.ttft_ms else (second, first)
    times = f"{milliseconds(slow.ttft_ms)} → {milliseconds(fast.ttft_ms)}"
    ratio = slow.ttft_ms / fast.ttft_ms if fast.ttft_ms > 0 else 1.0
    if round(ratio, 1) > 1:
        speed = f"{MODE_NAMES[fast.mode]} is {ratio:.1f}x faster to first token ({times})"
    else:
        speed = f"Both are equally fast to first token ({times})"
    same = first.reply == second.reply
    text, kv = (first, second) if first.mode is Mode.TEXT else (second, first)
    differ = (
        f"<details><summary>Show how</summary>{difference(text.reply, kv.reply)}</details>"
        if not same
        else ""
    )
    agree = "The replies are identical" if same else "The replies differ"
    order = (
        "Both ran at once and slowed each other down"
        if at_once
        else f"{MODE_NAMES[first.mode]} ran first; the order alternates"
    )
    overall = f'<span class="so-far">{so_far}</span>' if so_far else ""
    return (
        f'<div class="verdict" role="status"><strong>{speed}</strong>'
        f'<span class="agree"><span aria-hidden="true">{"=" if same else "≠"}</span> {agree}'
        f'</span><span class="quiet">{order}</span>{_prefix_cache(text)}{overall}{differ}</div>'
    )


def _prefix_cache(text: Reply) -> str:
    if text.cached_tokens <= text.prompt_tokens / 10:
        return ""
    return (
        f'<span class="quiet">Text found {text.cached_tokens:,} of its '
        f"{counted(text.prompt_tokens, 'token')} in the prefix cache</span>"
    )
