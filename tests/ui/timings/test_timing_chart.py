"""The chart and the tables of times."""

import re

from ui.chat.reply_times import ReplyTime
from ui.timings.timing_chart import drawn


def test_the_table_says_what_the_chart_shows() -> None:
    assert "Ask something" in drawn([])["timings"]
    times = [
        ReplyTime(1, "text", 200.0, 3),
        ReplyTime(1, "kv", 40.0, 3),
        ReplyTime(2, "kv", 50.0, 4),
    ]
    shown = drawn(times)["timings"]
    assert (shown.count("<circle"), shown.count("<path")) == (1, 2)
    text, kv = re.findall(r"<tr><th scope=\"row\">(?:Text|KV)</th>.*?</tr>", shown)
    assert re.findall(r"<td>(.*?)</td>", text) == ["1", "200 ms", "200 ms", "200 ms"]
    assert re.findall(r"<td>(.*?)</td>", kv) == ["2", "45 ms", "49 ms", "50 ms"]
    assert '<th scope="row">2</th><td>KV</td><td>50 ms</td><td>4</td>' in shown


def test_marks_stand_higher_the_longer_it_took() -> None:
    shown = drawn(
        [
            ReplyTime(1, "text", 100.0, 0),
            ReplyTime(2, "text", 50.0, 0),
            ReplyTime(3, "text", 0.0, 0),
        ]
    )["timings"]
    high, middle, low = (float(y) for y in re.findall(r'cy="([\d.]+)"', shown))
    assert high < middle < low
    assert abs((middle - high) - (low - middle)) < 0.2
