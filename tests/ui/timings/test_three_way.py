"""One question measured in three ways, of which nothing is kept."""

import re
from pathlib import Path

from tests.agent.agent_builder import opened, url_of
from ui.timings.three_way import ThreeWayMeasurement


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
