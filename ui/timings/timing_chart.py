"""Chart and tables of the time to the first token over the turns of this page."""

from collections.abc import Sequence

from app.figures import distribution
from memory_engine.types import Mode
from ui.chat.reply_times import ReplyTime
from ui.chat.trace_view import MODE_NAMES
from ui.parts.escaping import milliseconds

WIDTH, HEIGHT, LEFT, BOTTOM = 600, 220, 84, 28


def drawn(times: Sequence[ReplyTime]) -> dict[str, str]:
    """The chart and the table, as part of the page."""
    if not times:
        return {"timings": '<p class="quiet">Ask something: each reply adds a point.</p>'}
    return {"timings": f"{_chart(times)}{_summary(times)}{_table(times)}"}


def _chart(times: Sequence[ReplyTime]) -> str:
    first, last = times[0].turn, times[-1].turn
    top = max(time.ttft_ms for time in times) * 1.1 or 1.0

    def x(turn: int) -> float:
        return LEFT + (WIDTH - LEFT - 16) * (turn - first + 0.5) / (last - first + 1)

    def y(value: float) -> float:
        return 10 + (HEIGHT - BOTTOM - 10) * (1 - value / top)

    lines = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
        f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
        f"{milliseconds(value)}</text>"
        for value in (top * 0.5, top * 0.95)
    )
    turns = "".join(
        f'<text x="{x(turn):.1f}" y="{HEIGHT - 6}" text-anchor="middle">{turn}</text>'
        for turn in sorted({first, (first + last) // 2, last})
    )
    series = "".join(
        _series(mode, [(x(t.turn), y(t.ttft_ms)) for t in times if t.mode == mode.value])
        for mode in Mode
    )
    return (
        f'<figure class="chart"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Time to the first token by turn; the table below has the figures">'
        f'{lines}<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>'
        f"{turns}{series}</svg><figcaption>"
        '<span class="key text"><i aria-hidden="true">●</i> Text</span>'
        '<span class="key kv"><i aria-hidden="true">◆</i> KV</span>'
        "<span>Time to the first token by turn</span></figcaption></figure>"
    )


def _series(mode: Mode, places: list[tuple[float, float]]) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    marks = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        if mode is Mode.TEXT
        else f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"/>'
        for x, y in places
    )
    return f'<g class="series {mode.value}"><polyline points="{path}"/>{marks}</g>'


def _summary(times: Sequence[ReplyTime]) -> str:
    rows = []
    for mode in Mode:
        of_mode = [time.ttft_ms for time in times if time.mode == mode.value]
        if of_mode:
            found = distribution(of_mode)
            shown = (found["median"], found["p90"], found["p99"])
            cells = (len(of_mode), *map(milliseconds, shown))
            data = "".join(f"<td>{cell}</td>" for cell in cells)
            rows.append(f'<tr><th scope="row">{MODE_NAMES[mode]}</th>{data}</tr>')
    heads = ("Mode", "n", "Median", "p90", "p99")
    return _html_table(heads, rows)


def _table(times: Sequence[ReplyTime]) -> str:
    rows = [
        f'<tr><th scope="row">{turn}</th><td>{MODE_NAMES[Mode(mode)]}</td>'
        f"<td>{milliseconds(value)}</td><td>{facts}</td></tr>"
        for turn, mode, value, facts in reversed(times)
    ]
    table = _html_table(("Turn", "Mode", "First token", "Facts"), rows)
    return f"<details><summary>Every turn</summary>{table}</details>"


def _html_table(heads: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    body = f"<tbody>{''.join(rows)}</tbody>"
    return f'<table class="figures"><thead><tr>{head}</tr></thead>{body}</table>'
