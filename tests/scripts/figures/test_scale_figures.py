"""docs/scale.md and its plots come from reports, and every report from the command beside it."""

import shlex
import warnings
from pathlib import Path
from typing import Any

import pytest

from app.models.dummy_model import SHAPES
from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.model_shape import shape_of
from benchmarks.capacity.rates import shipped_rates
from benchmarks.capacity.simulation.scenario import Scenario, SimulatedMode
from benchmarks.capacity.simulation.simulate import simulate
from scripts.figures.scale_figures import PAGE, rendered
from scripts.figures.scale_plots import draw
from scripts.figures.scale_runs import MODES, RUNS, SWEEP, SWEPT, command, read, swept

SMALL = FleetDemand(users=2000, messages=100)


def a_run(mode: SimulatedMode, engines: int = 2, *, lose: bool = True) -> dict[str, Any]:
    scenario = Scenario(hours=0.1, warm_hours=0.5, mode=mode, lose=lose)
    return simulate(SMALL, shape_of("llama-8b"), shipped_rates(), scenario, engines)


def test_the_page_is_that_of_the_reports_there_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert rendered(text) == text, "run `make figures`"
    assert "Not simulated yet" not in text


@pytest.mark.parametrize("name", RUNS)
def test_a_report_is_of_the_command_that_stands_beside_it(name: str) -> None:
    report = read(name)
    asked, scenario = report["fleet"], report["simulation"]["scenario"] | {"simulate": True}
    scenario["no_lose"] = not scenario["lose"]
    for option, value in _options(RUNS[name]):
        if option == "model":
            assert report["model"] == value
            continue
        found = asked[option] if option in asked else scenario[option]
        assert str(found).removesuffix(".0") == value, option


def test_every_run_of_the_sweep_is_there() -> None:
    runs = [(run["engines"], run["scenario"]["mode"]) for run in read(SWEEP)]
    assert runs == [(engines, mode) for engines in SWEPT for mode in MODES]
    assert all(run["scenario"]["hours"] == 0.5 for run in read(SWEEP))
    assert "--hours 0.5" in swept(4, "kv")


@pytest.mark.parametrize("name", RUNS)
def test_reports_are_of_the_rates_that_are_shipped(name: str) -> None:
    report, rates = read(name), shipped_rates()
    tokens = min(report["fleet"]["k"], report["fleet"]["facts"]) * report["fleet"]["tokens"]
    assert report["model"] in SHAPES
    assert report["ttft_ms"]["text"] == round(rates.text.at(tokens), 2)
    assert report["ttft_ms"]["device"] == round(rates.kv.at(tokens), 2)


def test_commands_are_what_a_user_types() -> None:
    assert command("--users 5") == "inferscale plan --users 5 --json"


def test_plots_are_drawn_of_simulations(tmp_path: Path) -> None:
    sweep = [a_run(mode, engines, lose=False) for engines in (2, 3) for mode in MODES]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = draw([a_run("kv"), a_run("kv", 3)], sweep, tmp_path / "scale")
    assert [path.name for path in drawn] == ["scale-loss.png", "scale-engines.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def _options(arguments: str) -> list[tuple[str, str]]:
    """Options with their values; a switch is True."""
    words = shlex.split(arguments)
    pairs = []
    for number, word in enumerate(words):
        if word.startswith("--"):
            following = words[number + 1] if number + 1 < len(words) else "--"
            value = "True" if following.startswith("--") else following
            pairs.append((word[2:].replace("-", "_"), value))
    return pairs
