"""The chart and the tables of times, a question measured in three ways, and how replies differ."""

import re
from pathlib import Path

from agent.reply_events import Reply, Timings
from memory_engine.types import Mode
from tests.agent.agent_builder import opened, url_of
from ui.chat.reply_diff import difference
from ui.timings.three_way import ThreeWayMeasurement
from ui.timings.timing_chart import compared, drawn, with_replies


def reply_of(mode: Mode, ttft_ms: float) -> Reply:
    return Reply("Hi", mode, "c", "stop", ttft_ms, ttft_ms, Timings(0, 0, 0, 0), 1, 0, 0, 1, 1)


def test_every_turn_adds_its_points_and_the_last_fifty_stay() -> None:
    points = with_replies([], [reply_of(Mode.TEXT, 200), reply_of(Mode.KV, 40)])
    assert points == [(1, "text", 200, 0), (1, "kv", 40, 0)]
    for _ in range(60):
        points = with_replies(points, [reply_of(Mode.KV, 40)])
    assert (points[0][0], points[-1][0], len(points)) == (12, 61, 50)


def test_the_table_says_what_the_chart_shows() -> None:
    assert "Ask something" in drawn([])["timings"]
    points = [(1, "text", 200.0, 3), (1, "kv", 40.0, 3), (2, "kv", 50.0, 4)]
    shown = drawn(points)["timings"]
    assert (shown.count("<circle"), shown.count("<path")) == (1, 2)
    text, kv = re.findall(r"<tr><th scope=\"row\">(?:Text|KV)</th>.*?</tr>", shown)
    assert re.findall(r"<td>(.*?)</td>", text) == ["1", "200 ms", "200 ms", "200 ms"]
    assert re.findall(r"<td>(.*?)</td>", kv) == ["2", "45 ms", "49 ms", "50 ms"]
    assert '<th scope="row">2</th><td>KV</td><td>50 ms</td><td>4</td>' in shown


def test_comparisons_of_a_page_are_summed_up_from_the_second_on() -> None:
    points = [(1, "text", 100.0, 3), (1, "kv", 20.0, 3), (2, "kv", 900.0, 3)]
    assert compared(points) == ""
    points += [(3, "kv", 40.0, 3), (3, "text", 200.0, 3)]
    assert compared(points) == (
        "All 2 comparisons: 5.0x by the medians; Text 150 ms (p90 190 ms), KV 30 ms (p90 38 ms)"
    )


def test_marks_stand_higher_the_longer_it_took() -> None:
    shown = drawn([(1, "text", 100.0, 0), (2, "text", 50.0, 0), (3, "text", 0.0, 0)])["timings"]
    high, middle, low = (float(y) for y in re.findall(r'cy="([\d.]+)"', shown))
    assert high < middle < low
    assert abs((middle - high) - (low - middle)) < 0.2


def test_a_difference_marks_only_the_words_that_differ() -> None:
    shown = difference("My dog is <old>.", "My dog is young.")
    assert "My dog is " in shown
    assert '<del><span class="who">Text: </span>&lt;old&gt;.</del>' in shown
    assert '<ins><span class="who">KV: </span>young.</ins>' in shown
    assert "<del>" not in difference("The same.", "The same.")


async def test_a_question_is_measured_in_three_ways_and_nothing_is_kept(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_fact("ann", "I ski.")
        steps = [s async for s in ThreeWayMeasurement(parts.service, "ann").run("Do I ski?", 5)]
        assert await parts.service.conversations("ann") == []
    assert "Measuring" in steps[0]["measured"]
    shown = steps[-1]["measured"]
    for name in ("Text, cold", "Text, prefix cache warm", "KV injected"):
        assert name in shown
    assert "n=5 each, 1 fact;" in shown
    assert shown.count("p90 ") == 3
    assert re.search(r"KV is \d+\.\dx faster to first token than cold text", shown)
    assert "The replies are identical." in shown


async def test_a_blank_question_and_a_refused_model_are_explained(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path), supported=False) as parts:
        steps = [s async for s in ThreeWayMeasurement(parts.service, "ann").run("Who?", 5)]
    assert "nothing to compare" in steps[-1]["measured"]
