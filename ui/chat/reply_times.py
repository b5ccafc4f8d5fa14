"""Times to the first token of the replies of this page, and a comparison of the two modes."""

from collections.abc import Sequence
from typing import NamedTuple

from agent.reply_events import Reply
from app.figures import distribution, speedup
from memory_engine.types import Mode
from ui.parts.escaping import milliseconds

LAST = 50  # turns that are kept


class ReplyTime(NamedTuple):
    """One reply: its turn on this page, its mode, milliseconds, and how many facts it used."""

    turn: int
    mode: str
    ttft_ms: float
    facts: int


def with_replies(times: Sequence[ReplyTime], replies: Sequence[Reply]) -> list[ReplyTime]:
    """`times` and those of one more turn, at most the last `LAST` turns."""
    turn = times[-1].turn + 1 if times else 1
    more = [ReplyTime(turn, r.mode.value, r.ttft_ms, len(r.facts)) for r in replies]
    return [time for time in (*times, *more) if time.turn > turn - LAST]


def comparison(times: Sequence[ReplyTime]) -> str:
    """All side-by-side turns of the page in a line: how often, and how much faster KV was."""
    by_mode: dict[str, dict[int, float]] = {mode.value: {} for mode in Mode}
    for time in times:
        by_mode[time.mode][time.turn] = time.ttft_ms
    both = by_mode[Mode.TEXT.value].keys() & by_mode[Mode.KV.value].keys()
    if len(both) < 2:
        return ""
    text, kv = ([by_mode[mode.value][turn] for turn in both] for mode in (Mode.TEXT, Mode.KV))
    return (
        f"All {len(both)} comparisons: {speedup(text, kv):.1f}x by the medians; "
        f"Text {_spread(text)}, KV {_spread(kv)}"
    )


def _spread(times: Sequence[float]) -> str:
    found = distribution(times)
    return f"{milliseconds(found['median'])} (p90 {milliseconds(found['p90'])})"
