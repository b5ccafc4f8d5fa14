"""Statistics of the connector in vLLM's own: its log line and its /metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client import Counter, Gauge
from vllm.distributed.kv_transfer.kv_connector.v1.metrics import (
    KVConnectorPromMetrics,
    KVConnectorStats,
)

COUNTERS = {
    "planned_tokens": "Tokens of segments that requests asked to be injected.",
    "injected_tokens": "Tokens whose KV was injected instead of prefilled.",
    "absent_tokens": "Tokens asked for whose segment was not at hand.",
    "unreached_tokens": "Tokens asked for that were at hand, but behind one that was not.",
    "encoded_tokens": "Tokens whose KV was kept.",
    "rejected_segments": "Segments that could not be kept for want of room.",
    "evicted_segments": "Segments that had to leave the device.",
    "promoted_segments": "Segments brought back from host memory.",
    "demoted_segments": "Segments copied to host memory.",
    "inject_seconds": "Time of the device, of the first rank, for moves and injections.",
    "encode_seconds": "Time of the device, of the first rank, for keeping KV.",
}
# vLLM takes what has its name out of the registry when the next engine of a process starts.
_PREFIX = "vllm:inferscale_"
GAUGES = {
    "device_tokens": "Tokens whose KV is on the device.",
    "host_tokens": "Tokens whose KV is in host memory.",
}


@dataclass
class Statistics(KVConnectorStats):
    """Counts since the last call and the tiers' present contents; `data` is name -> number."""

    def reset(self) -> None:
        self.data: dict[str, Any] = {}

    def is_empty(self) -> bool:
        return not self.data

    def aggregate(self, other: KVConnectorStats) -> "Statistics":
        """Both: counts added up, of contents the later."""
        merged = dict(self.data)
        for name, value in other.data.items():
            merged[name] = merged.get(name, 0) + value if name in COUNTERS else value
        return Statistics(merged)

    def reduce(self) -> dict[str, int | float]:
        return dict(self.data)


class Counts:
    """Collects what happened between two steps; empty costs nothing."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._totals: dict[str, float] = {}

    def add(self, name: str, value: float) -> None:
        """Count `value` more."""
        assert name in COUNTERS
        if value:
            self._since[name] = self._since.get(name, 0) + value

    def total(self, name: str, value: float) -> None:
        """Set a count that is kept elsewhere to `value`."""
        self.add(name, value - self._totals.get(name, 0))
        self._totals[name] = value

    def take(self, contents: Mapping[str, int]) -> Statistics | None:
        """The counts since the last call, and the gauges; None if there are none."""
        if not self._since:
            return None
        counted, self._since = self._since, {}
        return Statistics(counted | dict(contents))


class PrometheusStatistics(KVConnectorPromMetrics):
    """Counters and gauges with the prefix `vllm:inferscale_`, an engine's own by its label."""

    def __init__(
        self,
        vllm_config: Any,
        metric_types: dict[type, Any],
        labelnames: list[str],
        per_engine_labelvalues: dict[int, list[object]],
    ) -> None:
        super().__init__(vllm_config, metric_types, labelnames, per_engine_labelvalues)
        self._metrics: dict[str, dict[int, Any]] = {}
        for kind, texts in ((Counter, COUNTERS), (Gauge, GAUGES)):
            for name, text in texts.items():
                metric = metric_types[kind](f"{_PREFIX}{name}", text, labelnames)
                self._metrics[name] = {
                    engine: metric.labels(*values)
                    for engine, values in per_engine_labelvalues.items()
                }

    def observe(self, transfer_stats_data: dict[str, Any], engine_idx: int = 0) -> None:
        for name, value in transfer_stats_data.items():
            metric = self._metrics[name].get(engine_idx)
            if metric is None:
                continue
            if name in COUNTERS:
                metric.inc(value)
            else:
                metric.set(value)
