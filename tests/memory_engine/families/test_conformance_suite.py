"""Every family is right or refused with the reason; and the gate sees what goes wrong.

One process runs the suite, and again with mistakes made on purpose, once a session.
"""

import json
import re
from typing import Any

import pytest
import torch

from app.models import family_report as table
from memory_engine.families.family import Family
from memory_engine.families.family_table import FAMILIES
from tests.memory_engine.families.planted_mistakes import SABOTAGES, Sabotage
from tests.memory_engine.families.suite_server import Measuring

POSITIONS = r"^values depend on the position \(layer 0"
STATE = "^The model has layers that keep a state"
NOT_SUPPORTED = {
    "Mistral v0.1, long": ("refused", "window of 32 tokens is shorter than .* of 256$"),
    "Gemma 4": ("refused", "^its layers differ in KV heads or head size$"),
    "gpt-oss": ("refused", "^its attention has sinks"),
    "GPT-2": ("refused", POSITIONS),
    "OPT": ("refused", POSITIONS),
    "DeepSeek-V2": ("not served", "^vLLM decodes other tokens than it prefills"),
    "MiniCPM3": ("refused", "^undoing RoPE leaves keys"),
    "Qwen2.5-1M": ("not tested", "accelerator"),
    "Jamba": ("not served", STATE),
    "Falcon-H1": ("not served", STATE),
    "Qwen3-Next": ("not served", STATE),
    "Mamba": ("not served", STATE),
}
CHECKS = {"rope_keys", "position_free_values", "shift", "identity"}
# Errors that rounding explains, and how much the last check has to see at the least.
ROUNDING = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 6e-2}
CONTRAST = {"float32": 0.04, "float16": 0.3, "bfloat16": 0.3}


@pytest.fixture(scope="session")
def measured(measuring: Measuring | None) -> dict[tuple[str, str], dict[str, Any]]:
    """The findings by sabotage ("" for none) and family."""
    if torch.cuda.is_available():
        pytest.skip("the table is that of the CPU")
    assert measuring is not None
    findings = [json.loads(line) for line in measuring.lines() if line.startswith("{")]
    return {(finding["sabotage"], finding["family"]): finding for finding in findings}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_right_or_refused_with_the_reason(
    family: Family, measured: dict[tuple[str, str], dict[str, Any]]
) -> None:
    found = measured["", family.name]
    outcome, reason = NOT_SUPPORTED.get(family.name, ("supported", "^$"))
    assert found["outcome"] == outcome, found["reason"]
    assert re.search(reason, found["reason"])
    if outcome == "supported":
        assert set(found["errors"]) == CHECKS
        assert max(found["errors"].values()) < ROUNDING[family.dtype]
        assert found["contrast"] > CONTRAST[family.dtype]


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name)
def test_a_mistake_is_refused(
    sabotage: Sabotage, measured: dict[tuple[str, str], dict[str, Any]]
) -> None:
    found = measured[sabotage.name, sabotage.family]
    assert found["outcome"] == "refused", found["errors"]
    assert re.search(sabotage.refusal, found["reason"]), found["reason"]


def test_the_published_table_is_what_is_measured(
    measured: dict[tuple[str, str], dict[str, Any]],
) -> None:
    published = table.known()
    assert published is not None
    assert [(e["family"], e["exercises"], e["outcome"]) for e in published["families"]] == [
        (f["family"], f["exercises"], f["outcome"]) for (s, _), f in measured.items() if not s
    ]


def test_families_have_names_of_their_own() -> None:
    names = [family.name for family in FAMILIES]
    assert len(set(names)) == len(names)
    assert set(NOT_SUPPORTED) <= set(names)
