"""Targets: every figure is found in a report, and a missing one is not a failure."""

from typing import Any

from benchmarks.speed.targets import GPU, judged


def row(k: int, text: float, kv: float) -> dict[str, Any]:
    return {
        "k": k,
        "text_ttft_ms": {"median": text},
        "kv_ttft_ms": {"median": kv},
        "speedup": text / kv,
        "host_speedup": 2.0,
    }


def report(**parts: Any) -> dict[str, Any]:
    rows = [row(0, 8.0, 8.0), row(50, 48.0, 10.0), row(100, 90.0, 10.0), row(200, 200.0, 10.0)]
    return {"device": "NVIDIA Test", "rows": rows} | parts


def figures(of: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in judged(of)}


def test_reached_and_missed_are_told_apart() -> None:
    found = figures(report())
    assert found["TTFT, KV against text, k=50"]["reached"] is True
    missed = found["TTFT, KV k=200 over text k=0"]
    assert (missed["measured"], missed["reached"]) == (1.25, False)
    assert found["TTFT, KV from host against text, k=50"]["reached"] is False


def test_what_was_not_measured_is_neither() -> None:
    found = figures(report(throughput=None, bandwidth=None, encoding=None))
    names = ("facts encoded, best rate", "injection, k=50, of copy bandwidth")
    assert [found[name]["measured"] for name in names] == [None, None]
    assert [found[name]["reached"] for name in names] == [None, None]


def test_every_target_finds_its_figure() -> None:
    load = [{"concurrency": 128, "output_tokens": n, "speedup": 8.0} for n in (1, 32)]
    alone = [{"k": k, "percent_of_copy": 83.0, "host_ms": 0.1} for k in (50, 200)]
    encoding = {"rates": [{"facts_per_s": 300.0}, {"facts_per_s": 800.0}]}
    chat = {"p99_rise_percent": 30.0}
    found = judged(report(throughput=load, bandwidth={"rows": alone}, encoding=encoding, chat=chat))
    assert len(found) == len(GPU)
    assert all(each["measured"] is not None for each in found)
    assert figures(report(encoding=encoding))["facts encoded, best rate"]["measured"] == 800.0
    assert [each["reached"] for each in found[-2:]] == [True, False]
