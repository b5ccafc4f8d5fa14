"""A report of `inferscale bench`, made up, with figures that can be worked out by hand."""

from typing import Any

from benchmarks.capacity.rates import EngineRates, rates_of


def a_report(**changes: Any) -> dict[str, Any]:
    """An 8B on a made-up GPU of 100 GiB: 10 ms a first token, and then a straight line."""
    report: dict[str, Any] = {
        "model": "llama-8b",
        "hardware": {"cpu": "c", "cores": 8, "ram_gib": 200.0, "gpu": "G", "gpu_gib": 100.0},
        "tensor_parallel": 1,
        "fact_tokens": 10,
        "encode": {"ms_per_fact": 4.0},
        "rows": [_row(k) for k in (0, 10, 100)],
        "throughput": [
            _load(64, 1, text=50.0, kv=500.0),
            _load(64, 11, text=40.0, kv=250.0),
            _load(1, 1, text=9.0, kv=9.0),
        ],
        "encoding": {"rates": [{"facts_per_s": 400.0}, {"facts_per_s": 500.0}]},
        "chat": {"facts_per_s": 100.0},
        "bandwidth": {"copy_gb_per_s": 4000.0},
    }
    return report | changes


def the_rates(**changes: Any) -> EngineRates:
    """The rates in `a_report`."""
    return rates_of(a_report(**changes))


def _row(k: int) -> dict[str, Any]:
    return {
        "k": k,
        "text_ttft_ms": {"median": 10.0 + k},
        "kv_ttft_ms": {"median": 10.0 + k / 10},
        "host_ttft_ms": {"median": 10.0 + k / 5},
    }


def _load(concurrency: int, output_tokens: int, **arms: float) -> dict[str, Any]:
    rates = {arm: {"requests_per_s": rate} for arm, rate in arms.items()}
    shape = {"concurrency": concurrency, "output_tokens": output_tokens}
    return shape | {"k": 50, "prompt_tokens": 552} | rates
