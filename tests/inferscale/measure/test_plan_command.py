"""`inferscale plan` on the command line: tables, JSON, and refusals."""

import inspect
import json
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchmarks.capacity.fleet_demand import FleetDemand
from benchmarks.capacity.simulation.scenario import Scenario
from inferscale.commands import app
from inferscale.measure import plan_command

BENCHMARKS = Path(__file__).parents[3] / "docs" / "benchmarks"


def plan(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plan", *arguments])


def test_people_get_tables_and_where_the_rates_are_from() -> None:
    result = plan("--model", "llama-8b", "--users", "1000", "--facts", "200", "--tokens", "40")
    assert result.exit_code == 0, result.stderr
    assert "Rates of llama-8b on 1 NVIDIA H200: measured." in result.stdout
    assert "1,000 users with 200 facts of 40 tokens" in result.stdout
    for part in ("all users", "KV from the device", "Load on", "new facts/s", "beside the chat"):
        assert part in result.stdout


def test_programs_get_one_line() -> None:
    result = plan("--model", "llama-8b", "--store", "fp8", "--json")
    assert result.stdout.count("\n") == 1
    report = json.loads(result.stdout)
    assert report["bytes"]["a_token"] == 67_584
    assert "KV, fp8" in result.stderr


def test_a_simulation_follows_the_plan() -> None:
    small = ("--users", "2000", "--messages", "100", "--hours", "0.1", "--warm-hours", "1")
    result = plan("--model", "llama-8b", *small, "--engines", "2", "--simulate", "--json")
    assert result.exit_code == 0, result.stderr
    simulation = json.loads(result.stdout)["simulation"]
    assert simulation["engines"] == 2
    assert simulation["spans"]["before"]["messages"] > 0
    assert "Engines, and the loss of one" in result.stderr


def test_another_shape_is_an_estimate() -> None:
    result = plan("--model", "llama-70b", "--tensor-parallel", "2")
    assert "an estimate, scaled from llama-8b on 1 GPU(s)" in result.stdout


def test_a_report_of_the_same_model_is_no_estimate_and_says_what_it_lacks() -> None:
    report = str(BENCHMARKS / "h200x2-llama-70b.json")
    result = plan("--model", "llama-70b", "--tensor-parallel", "2", "--report", report)
    assert "measured; no load was measured" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "owner/name"], "a plan contacts nobody"),
        (["--model", "llama-8b", "--users", "0"], "--users must be 1 or more."),
        (["--model", "llama-8b", "--engines", "1", "--simulate"], "--no-lose"),
        (["--model", "llama-70b"], "raise --tensor-parallel"),
        (["--model", "llama-8b", "--report", "nothing.json"], "cannot be read"),
    ],
)
def test_what_cannot_work_ends_with_2_and_says_why(arguments: list[str], message: str) -> None:
    result = plan(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_every_field_of_demand_and_scenario_is_an_option() -> None:
    options = set(inspect.signature(plan_command.plan).parameters)
    wanted = {field.name for made in (FleetDemand, Scenario) for field in fields(made)}
    assert wanted - options == set()
