"""The inputs of a turn: the parts of the page by name, and the modes they ask for."""

from memory_engine.types import Mode
from tests.ui.chat.turn_builder import page
from tests.ui.fake_service import FakeService
from ui import build_ui
from ui.chat.page import Page
from ui.parts.page_states import SIDE_BY_SIDE


def test_side_by_side_the_order_alternates() -> None:
    assert Page(*page("kv")).order == (Mode.KV,)
    assert Page(*page(SIDE_BY_SIDE)).order == (Mode.TEXT, Mode.KV)
    assert Page(*page(SIDE_BY_SIDE, asked=1)).order == (Mode.KV, Mode.TEXT)


async def test_a_turn_gets_as_many_parts_as_it_takes() -> None:
    events = build_ui(FakeService()).fns.values()
    inputs = {getattr(each.fn, "__qualname__", ""): each.inputs for each in events}
    assert len(inputs["ChatTurns.retry"]) == len(Page.inputs())
    assert len(inputs["ChatTurns.send"]) == len(Page.inputs()) + 1
