"""Times of the replies of a page, and the comparison of the modes."""

from agent.reply_events import Reply, Timings
from memory_engine.types import Mode
from ui.chat.reply_times import ReplyTime, comparison, with_replies


def reply_of(mode: Mode, ttft_ms: float) -> Reply:
    return Reply("Hi", mode, "c", "stop", ttft_ms, ttft_ms, Timings(0, 0, 0, 0), 1, 0, 0, 1, 1)


def test_every_turn_adds_its_points_and_the_last_fifty_stay() -> None:
    times = with_replies([], [reply_of(Mode.TEXT, 200), reply_of(Mode.KV, 40)])
    assert times == [ReplyTime(1, "text", 200, 0), ReplyTime(1, "kv", 40, 0)]
    for _ in range(60):
        times = with_replies(times, [reply_of(Mode.KV, 40)])
    assert (times[0][0], times[-1][0], len(times)) == (12, 61, 50)


def test_comparisons_of_a_page_are_summed_up_from_the_second_on() -> None:
    times = [
        ReplyTime(1, "text", 100.0, 3),
        ReplyTime(1, "kv", 20.0, 3),
        ReplyTime(2, "kv", 900.0, 3),
    ]
    assert comparison(times) == ""
    times += [ReplyTime(3, "kv", 40.0, 3), ReplyTime(3, "text", 200.0, 3)]
    assert comparison(times) == (
        "All 2 comparisons: 5.0x by the medians; Text 150 ms (p90 190 ms), KV 30 ms (p90 38 ms)"
    )
