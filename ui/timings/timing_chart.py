"""Time to the first token over the turns of this page: a chart, and a table that says the same."""

from collections.abc import Sequence

from agent.reply_events import Reply
from app.figures import distribution, speedup
from memory_engine.types import Mode
from ui.chat.trace_view import MODE_NAMES
from ui.parts.escaping import milliseconds

LAST = 50  # turns on the chart
WIDTH, HEIGHT, LEFT, BOTTOM = 600, 220, 84, 28

Point = tuple[int, str, float, int]  # turn, mode, milliseconds to the first token, facts used


def with_replies(points: Sequence[Point], replies: Sequence[Reply]) -> list[Point]:
    """`points` and those of one more turn, at most the last `LAST` turns."""
    turn = points[-1][0] + 1 if points else 1
    more = [(turn, r.mode.value, r.ttft_ms, len(r.facts)) for r in replies]
    return [point for point in (*points, *more) if point[0] > turn - LAST]


def compared(points: Sequence[Point]) -> str:
    """All side-by-side turns of the page in a line: how often, and how much faster KV was."""
    times: dict[str, dict[int, float]] = {mode.value: {} for mode in Mode}
    for turn, mode, ttft_ms, _ in points:
        times[mode][turn] = ttft_ms
    both = times[Mode.TEXT.value].keys() & times[Mode.KV.value].keys()
    if len(both) < 2:
        return ""
    text, kv = ([times[mode.value][turn] for turn in both] for mode in (Mode.TEXT, Mode.KV))
    return (
        f"All {len(both)} comparisons: {speedup(text, kv):.1f}x by the medians; "
        f"Text {_spread(text)}, KV {_spread(kv)}"
    )


def _spread(times: Sequence[float]) -> str:
    found = distribution(times)
    return f"{milliseconds(found['median'])} (p90 {milliseconds(found['p90'])})"


def drawn(points: Sequence[Point]) -> dict[str, str]:
    """The chart and the table, as part of the page."""
    if not points:
        return {"timings": '<p class="quiet">Ask something: each reply adds a point.</p>'}
    return {"timings": f"{_chart(points)}{_summary(points)}{_table(points)}"}


def _chart(points: Sequence[Point]) -> str:
    first, last = points[0][0], points[-1][0]
    top = max(point[2] for point in points) * 1.1 or 1.0

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
        _series(mode, [(x(p[0]), y(p[2])) for p in points if p[1] == mode.value]) for mode in Mode
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


def _summary(points: Sequence[Point]) -> str:
    rows = []
    for mode in Mode:
        times = [point[2] for point in points if point[1] == mode.value]
        if times:
            found = distribution(times)
            shown = (found["median"], found["p90"], found["p99"])
            cells = (len(times), *map(milliseconds, shown))
            data = "".join(f"<td>{cell}</td>" for cell in cells)
            rows.append(f'<tr><th scope="row">{MODE_NAMES[mode]}</th>{data}</tr>')
    heads = ("Mode", "n", "Median", "p90", "p99")
    return _html_table(heads, rows)


def _table(points: Sequence[Point]) -> str:
    rows = [
        f'<tr><th scope="row">{turn}</th><td>{MODE_NAMES[Mode(mode)]}</td>'
        f"<td>{milliseconds(value)}</td><td>{facts}</td></tr>"
        for turn, mode, value, facts in reversed(points)
    ]
    table = _html_table(("Turn", "Mode", "First token", "Facts"), rows)
    return f"<details><summary>Every turn</summary>{table}</details>"


def _html_table(heads: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    body = f"<tbody>{''.join(rows)}</tbody>"
    return f'<table class="figures"><thead><tr>{head}</tr></thead>{body}</table>'
