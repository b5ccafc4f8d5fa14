"""The report of a fleet run: counts added up, and tables."""

from scripts.fleet_report import as_markdown, report
from tests.fleet.user_journal import Failure, Journal


def test_counts_are_those_of_all_scenarios_and_errors_are_told() -> None:
    calm = Journal(messages=3, turns={"ann": ["I ski.", "Fine."]}, ttft_ms=[10.0, 30.0])
    rough = Journal(messages=1, failures=[Failure(503, "Ask again.")], lost_turns=["ann: x"])
    rough.foreign = ["ann was served Badoku", "ann read Badoku"]
    scenarios = [
        {"name": name, "seconds": 2.0, **journal.as_json()}
        for name, journal in (("calm", calm), ("rough", rough))
    ]
    found = report(scenarios, users=1, crowd=5)
    assert found["n"] == {"users": 1, "crowd": 5}
    assert found["counts"] == {
        "turns_lost": 1,
        "facts_lost": 0,
        "foreign": 2,
        "wrong": 0,
        "unclear_errors": 0,
    }
    table = as_markdown(found).splitlines()
    assert table[2] == "| calm | 1 | 3 | 0 | 0 | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 20 / 30 | 2 |"
    assert table[3] == "| rough | 0 | 1 | 0 | 0 | 0 | 0 | 1 | 0 | 2 | 0 | 0 | 1 | - | 2 |"
    assert table[-1] == "| rough | 1 | 503 | Ask again. |"
