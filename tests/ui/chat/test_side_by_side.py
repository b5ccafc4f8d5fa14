"""A turn in both modes: their order, and how the replies are compared."""

from memory_engine.types import Mode
from tests.ui.chat.turn_builder import changes_of, distinct, merged, page, texts
from tests.ui.fake_service import FakeService
from ui.parts.page_states import SIDE_BY_SIDE


async def test_side_by_side_alternates_the_order_and_compares() -> None:
    service = FakeService()
    steps = await changes_of(service, "Who?", page(SIDE_BY_SIDE))
    first = merged(steps)
    assert "KV is 6.3x faster to first token (259 ms → 41 ms)" in first["strip"]
    assert "The replies are identical" in first["strip"]
    assert "Text ran first" in first["strip"]
    assert first["asked"] == 1
    second = merged(await changes_of(service, "Who?", page(SIDE_BY_SIDE, asked=1)))
    assert "KV ran first" in second["strip"]
    assert [order for _, order in service.asked] == [(Mode.TEXT, Mode.KV), (Mode.KV, Mode.TEXT)]


async def test_the_second_pane_waits_until_the_first_has_answered() -> None:
    steps = await changes_of(FakeService(delay=0.06), "Who?", page(SIDE_BY_SIDE, asked=1))
    text_pane = distinct(steps, "left_trace")
    assert "Starts when KV is done" in text_pane[0]
    assert "stopwatch" in text_pane[1]
    assert "<strong>272 ms</strong>" in text_pane[-1]


async def test_asked_at_once_no_pane_waits_and_no_time_is_kept() -> None:
    service = FakeService(delay=0.01)
    steps = await changes_of(service, "Who?", page(SIDE_BY_SIDE, at_once=True))
    assert service.options[0]["at_once"] is True
    assert "stopwatch" in distinct(steps, "left_trace")[0]
    assert "stopwatch" in distinct(steps, "right_trace")[0]
    last = merged(steps)
    assert "Both ran at once and slowed each other down" in last["strip"]
    assert last["reply_times"] == ()


async def test_replies_that_differ_are_said_to_differ() -> None:
    service = FakeService()
    service.answers[Mode.TEXT] = "I do not know."
    last = merged(await changes_of(service, "Who?", page(SIDE_BY_SIDE)))
    assert "The replies differ" in last["strip"]
    assert texts(last["left"])[-1] == "I do not know."
    assert texts(last["right"])[-1] == "Your dog is Biscuit."
