"""Counts of the connector, and their way to Prometheus."""

from functools import partial
from typing import Any

import pytest
import torch
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from memory_engine.connector.gpu.device_timer import DeviceTimer
from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import WorkerReport
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers
from memory_engine.connector.statistics import (
    COUNTERS,
    GAUGES,
    Counts,
    PrometheusStatistics,
    Statistics,
)
from tests.memory_engine.connector.request_builder import raw_request

TOKENS = 20


def test_the_scheduler_counts_what_was_asked_given_and_missed() -> None:
    side = SchedulerSide(Tiers(Arena(40)), block_size=4)
    side.report(WorkerReport({"probe": Verdict()}))
    encode = raw_request("encode", "anna", segments="a:0:3 c:7:9")
    side.arrived("e", encode, TOKENS)
    side.step_orders({"e": (0, TOKENS, list(range(5)))})
    side.finished("e")
    side.step_orders({})
    counted = side.statistics()
    assert counted is not None
    assert counted.data == {"encoded_tokens": 5, "device_tokens": 5, "host_tokens": 0}
    inject = raw_request("inject", "anna", segments="a:0:3 b:3:7 c:7:9")
    side.arrived("r", inject, TOKENS)
    side.admitted("r", side.lookup("r", TOKENS, 0))
    side.step_orders({"r": (3, 17, list(range(5)))})
    side.finished("r")
    counted = side.statistics()
    assert counted is not None
    assert counted.data["planned_tokens"] == 9
    assert counted.data["injected_tokens"] == 3
    assert counted.data["absent_tokens"] == 4
    assert counted.data["unreached_tokens"] == 2
    assert side.statistics() is None


def test_counts_add_up_and_contents_are_the_latest() -> None:
    one = Statistics({"injected_tokens": 3, "device_tokens": 9})
    two = Statistics({"injected_tokens": 4, "inject_seconds": 0.5, "device_tokens": 7})
    both = one.aggregate(two)
    assert both.data == {"injected_tokens": 7, "inject_seconds": 0.5, "device_tokens": 7}
    assert Statistics().is_empty()


def test_a_total_is_counted_by_its_growth() -> None:
    counts = Counts()
    counts.total("evicted_segments", 3)
    counts.total("evicted_segments", 5)
    found = counts.take({})
    assert found is not None
    assert found.data == {"evicted_segments": 5}
    counts.total("evicted_segments", 5)
    assert counts.take({}) is None


def test_prometheus_gets_every_counter_and_gauge() -> None:
    registry = CollectorRegistry()

    class Config:
        kv_transfer_config = None

    kinds: dict[type, Any] = {
        kind: partial(kind, registry=registry) for kind in (Counter, Gauge, Histogram)
    }
    metrics = PrometheusStatistics(Config(), kinds, ["engine"], {0: ["0"], 1: ["1"]})
    metrics.observe(dict.fromkeys([*COUNTERS, *GAUGES], 2), engine_idx=1)
    metrics.observe({"injected_tokens": 3, "device_tokens": 1}, engine_idx=1)
    labels = {"engine": "1"}
    assert registry.get_sample_value("vllm:inferscale_injected_tokens_total", labels) == 5
    assert registry.get_sample_value("vllm:inferscale_device_tokens", labels) == 1
    assert registry.get_sample_value("vllm:inferscale_injected_tokens_total", {"engine": "0"}) == 0


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_the_devices_time_is_told_once(device: str) -> None:
    clock = DeviceTimer(torch.device(device))
    with clock.measured("inject_seconds"):
        torch.ones(1 << 20, device=device).sum()
    if device == "cuda":
        torch.cuda.synchronize()
    assert 0 < clock.take()["inject_seconds"] < 10
    assert clock.take() == {}
