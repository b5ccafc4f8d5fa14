"""Rates come from a report: nothing is hard-coded, and missing parts are named."""

import json
from pathlib import Path

import pytest

from benchmarks.capacity.rates import SHIPPED, read_rates, shipped_rates
from memory_engine.errors import SettingsError
from scripts.figures.ship_rates import rendered
from tests.benchmarks.capacity.report_builder import a_report, the_rates

BENCHMARKS = Path(__file__).parents[3] / "docs" / "benchmarks"


def test_the_shipped_rates_are_those_of_the_committed_report() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == rendered(), (
        "run `python -m scripts.figures.ship_rates`"
    )
    assert shipped_rates() == read_rates(BENCHMARKS / "h200-llama-8b-full.json")


def test_measured_points_are_read_off_unchanged() -> None:
    report = json.loads((BENCHMARKS / "h200-llama-8b-full.json").read_text(encoding="utf-8"))
    rates = shipped_rates()
    for row in report["rows"]:
        tokens = row["k"] * report["fact_tokens"]
        for arm in ("text", "kv", "host"):
            assert rates.ttft(arm).at(tokens) == row[f"{arm}_ttft_ms"]["median"]


def test_a_request_keeps_an_engine_for_one_over_the_measured_throughput() -> None:
    rates = the_rates()
    for arm, of_one, of_eleven in (("text", 50, 40), ("kv", 500, 250)):
        assert rates.busy_ms(arm, 500, 1) == pytest.approx(1000 / of_one)
        assert rates.busy_ms(arm, 500, 11) == pytest.approx(1000 / of_eleven)
    # A token more than 11 costs as much as those between.
    assert rates.busy_ms("kv", 500, 21) == pytest.approx(6)


def test_less_text_keeps_an_engine_for_less_and_host_memory_for_longer() -> None:
    rates = the_rates()
    assert rates.busy_ms("kv", 0, 1) < rates.busy_ms("text", 250, 1) < rates.busy_ms("text", 500, 1)
    assert rates.busy_ms("text", 0, 1) == pytest.approx(rates.busy_ms("kv", 0, 1))
    assert rates.busy_ms("host", 500, 1) == pytest.approx(rates.busy_ms("kv", 500, 1) + 5)


def test_without_load_a_request_counts_as_long_as_its_first_token() -> None:
    rates = the_rates(throughput=None)
    assert rates.busy_ms("text", 100, 500) == 20


def test_encoding_is_the_best_measured_rate_and_the_one_beside_a_chat() -> None:
    assert (the_rates().encode, the_rates().encode_beside_chat) == (500, 100)
    alone = the_rates(encoding=None, chat=None)
    assert (alone.encode, alone.encode_beside_chat) == (250, 250)


@pytest.mark.parametrize("name", ["h200x2-llama-70b", "h200x2-llama-8b", "cpu-smollm2"])
def test_every_committed_report_of_the_benchmark_can_be_planned_with(name: str) -> None:
    rates = read_rates(BENCHMARKS / f"{name}.json")
    assert rates.load is None
    assert rates.text.at(2000) > rates.kv.at(2000)


def test_a_file_that_is_no_report_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({name: v for name, v in a_report().items() if name != "rows"}))
    with pytest.raises(SettingsError, match="'rows' is missing"):
        read_rates(path)
    path.write_text("no json")
    with pytest.raises(SettingsError, match="cannot be read"):
        read_rates(path)
