"""Counts of replies, and a dashboard that asks for nothing else."""

import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from agent.reply_events import ReplyEvent, TextDelta
from app import metrics
from memory_engine.errors import EngineError
from memory_engine.types import Mode

DASHBOARD = Path(__file__).parents[2] / "ops/grafana/inferscale.json"


async def words(fail: bool) -> AsyncGenerator[tuple[Mode, ReplyEvent], None]:
    yield Mode.TEXT, TextDelta("one")
    if fail:
        raise EngineError("gone")
    yield Mode.TEXT, TextDelta("two")


def ended(outcome: str) -> float:
    labels = {"mode": "text", "outcome": outcome}
    return REGISTRY.get_sample_value("inferscale_replies_total", labels) or 0.0


async def read(*, fail: bool, most: int) -> None:
    events = metrics.measured(words(fail))
    async for _ in events:
        most -= 1
        if not most:
            break
    await events.aclose()


async def test_a_reply_that_fails_or_is_left_is_counted_as_that() -> None:
    failed, stopped = ended("failed"), ended("stopped")
    with pytest.raises(EngineError):
        await read(fail=True, most=9)
    await read(fail=False, most=1)
    assert (ended("failed"), ended("stopped")) == (failed + 1, stopped + 1)
    assert REGISTRY.get_sample_value("inferscale_replies_running") == 0


def test_no_metric_has_a_label_that_could_name_a_user() -> None:
    found = [m for m in vars(metrics).values() if hasattr(m, "_labelnames")]
    assert len(found) >= 9
    labels = {label for metric in found for label in metric._labelnames}
    assert labels == {"mode", "outcome", "source", "status"}


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    asked = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"inferscale_\w+", target["expr"])
    }
    offered = {
        name
        for metric in vars(metrics).values()
        if hasattr(metric, "_labelnames")
        for family in metric.describe()
        for name in (family.name, f"{family.name}_total", f"{family.name}_bucket")
    }
    assert len(panels) == 8
    assert asked <= offered
    assert len(asked) == 9
