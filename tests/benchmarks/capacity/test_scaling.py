"""Rates of another shape follow the stated rule, and say that they are an estimate."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.capacity.model_shape import shape_of
from benchmarks.capacity.rates import read_rates, shipped_rates
from benchmarks.capacity.scaling import rates_for
from memory_engine.errors import SettingsError
from tests.benchmarks.capacity.report_builder import the_rates

SMALL = shape_of("llama-8b")
BENCHMARKS = Path(__file__).parents[3] / "docs" / "benchmarks"


def test_the_measured_model_keeps_its_rates() -> None:
    rates = the_rates()
    assert rates_for(rates, SMALL, 1) is rates
    assert rates.estimate == ""


def test_twice_the_bytes_of_kv_take_twice_as_long_to_inject() -> None:
    rates = the_rates()
    fat = replace(SMALL, name="fat", kv_heads=2 * SMALL.kv_heads)
    scaled = rates_for(rates, fat, 1)
    assert scaled.estimate == "scaled from llama-8b on 1 GPU(s)"
    assert scaled.kv.at(1000) - scaled.kv.at(0) == pytest.approx(2 * 10)
    assert scaled.host is not None
    assert scaled.host.at(1000) - scaled.host.at(0) == pytest.approx(2 * 20)
    # The same weights: no longer pass over them, and the same prefill.
    assert scaled.text == rates.text


def test_a_second_gpu_halves_bytes_and_operations() -> None:
    rates = the_rates()
    scaled = rates_for(rates, SMALL, 2)
    assert scaled.text.at(1000) - scaled.text.at(0) == pytest.approx(100 / 2)
    assert scaled.kv.at(1000) - scaled.kv.at(0) == pytest.approx(10 / 2)
    assert scaled.encode == pytest.approx(2 * rates.encode)
    weights_ms = SMALL.weight_bytes / 4000e9 * 1e3
    assert scaled.text.at(0) == pytest.approx(10 - weights_ms / 2)


def test_text_grows_with_the_operations_of_the_model() -> None:
    large = shape_of("llama-70b")
    scaled = rates_for(the_rates(), large, 1)
    ratio = large.prefill_operations(1000) / SMALL.prefill_operations(1000)
    assert scaled.text.at(1000) - scaled.text.at(0) == pytest.approx(100 * ratio)
    assert scaled.load is not None
    assert scaled.load.text.first > scaled.load.kv.first


def test_the_rule_is_within_a_quarter_of_what_was_measured_for_70b_on_two_gpus() -> None:
    measured = read_rates(BENCHMARKS / "h200x2-llama-70b.json")
    scaled = rates_for(shipped_rates(), shape_of("llama-70b"), 2)
    for arm in ("text", "kv", "host"):
        for tokens in (0, 2000, 4000, 8000):
            assert scaled.ttft(arm).at(tokens) == pytest.approx(
                measured.ttft(arm).at(tokens), rel=0.25
            )
    assert scaled.encode == pytest.approx(measured.encode, rel=0.25)


def test_rates_of_an_unknown_shape_hold_for_that_model_alone() -> None:
    rates = read_rates(BENCHMARKS / "cpu-smollm2.json")
    assert rates_for(rates, replace(SMALL, name=rates.model), 1) is rates
    with pytest.raises(SettingsError, match="cannot be scaled to llama-8b"):
        rates_for(rates, SMALL, 1)
    with pytest.raises(SettingsError, match="cannot be scaled to llama-8b on 2"):
        rates_for(the_rates(rows=the_rows_without_zero()), SMALL, 2)


def the_rows_without_zero() -> list[dict[str, object]]:
    from tests.benchmarks.capacity.report_builder import a_report

    rows: list[dict[str, object]] = a_report()["rows"]
    return rows[1:]
