"""The parameters of a benchmark: refusals, and tokens enough for every part."""

from typing import Any

import pytest

from benchmarks.speed.prompt_material import PromptMaterial
from benchmarks.speed.workload import Workload
from memory_engine.errors import SettingsError


@pytest.mark.parametrize(
    "wrong",
    [
        {"ks": ()},
        {"ks": (-1,)},
        {"fact_tokens": 0},
        {"repeats": 0},
        {"concurrency": (0,)},
        {"output_tokens": ()},
        {"host_mib": -1},
        {"tensor_parallel": 0},
    ],
)
def test_a_benchmark_of_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Workload(**wrong)


def test_a_workload_asks_for_enough_tokens_for_every_part() -> None:
    workload = Workload(ks=(2,), fact_tokens=4, fact_lengths=(50,), load_k=3, encode_facts=9)
    PromptMaterial.cut_from(range(workload.tokens_needed), workload.facts, 4)
    PromptMaterial.cut_from(range(workload.tokens_needed), 3, 50)
    PromptMaterial.cut_from(range(workload.tokens_needed), 9, 4)
