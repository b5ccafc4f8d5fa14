"""The connector takes on requests whose prompt is token ids and nothing else."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from memory_engine.connector.connector import InferScaleConnector
from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import WorkerReport
from memory_engine.connector.protocol.params import KEY
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers
from memory_engine.connector.worker import TierSizes, WorkerSide
from tests.memory_engine.connector.request_builder import raw_request


def connector() -> InferScaleConnector:
    """The scheduler's side of one, open, without a vLLM around it."""
    built = InferScaleConnector.__new__(InferScaleConnector)
    built.scheduler = SchedulerSide(Tiers(Arena(40)), block_size=4)
    built.scheduler.report(WorkerReport({"probe": Verdict()}))
    return built


def request(name: str, op: str = "inject", **changes: Any) -> Any:
    plain = {
        "request_id": name,
        "kv_transfer_params": {KEY: raw_request(op, "anna", segments="a:0:3")},
        "prompt_token_ids": list(range(9)),
        "prompt_embeds": None,
        "num_prompt_tokens": 9,
        "num_tokens": 9,
        "lora_request": None,
        "mm_features": [],
        "skip_reading_prefix_cache": False,
    }
    return SimpleNamespace(**(plain | changes))


def known(side: InferScaleConnector) -> InferScaleConnector:
    """With anna's segment `a` encoded."""
    side.on_new_request(request("e", "encode"))
    side.scheduler.step_orders({"e": (0, 9, [0, 1, 2])})
    side.request_finished(request("e", "encode"), [])
    return side


def test_a_prompt_of_tokens_is_injected() -> None:
    side, asked = known(connector()), request("r")
    side.on_new_request(asked)
    assert side.get_num_new_matched_tokens(asked, 0) == (3, False)


@pytest.mark.parametrize("op", ["inject", "encode"])
@pytest.mark.parametrize(
    "changes",
    [
        {"lora_request": "an adapter"},
        {"mm_features": ["an image"]},
        {"prompt_token_ids": None, "prompt_embeds": torch.zeros(9, 2)},
        {"prompt_embeds": torch.zeros(9, 2)},
    ],
    ids=["LoRA", "multi-modal", "embeddings", "tokens mixed with embeddings"],
)
def test_a_prompt_that_is_more_than_tokens_is_neither_injected_nor_encoded(
    op: str, changes: dict[str, Any]
) -> None:
    side, asked = known(connector()), request("r", op, **changes)
    side.on_new_request(asked)
    assert side.get_num_new_matched_tokens(asked, 0) == (0, False)
    assert not side.scheduler.needs_step("r")
    assert side.request_finished(asked, []) == (False, None)


def test_only_the_worker_of_the_same_engine_is_given_its_copies_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = "memory_engine.connector.connector"
    ours, theirs = connector(), InferScaleConnector.__new__(InferScaleConnector)
    ours._vllm_config, theirs._vllm_config, theirs.worker = (
        object(),
        object(),
        WorkerSide(TierSizes(1)),
    )
    monkeypatch.setattr(f"{module}.has_kv_transfer_group", lambda: False)
    assert ours._worker_here() is None
    monkeypatch.setattr(f"{module}.has_kv_transfer_group", lambda: True)
    monkeypatch.setattr(f"{module}.get_kv_transfer_group", lambda: theirs)
    assert ours._worker_here() is None
    theirs._vllm_config = ours._vllm_config
    assert ours._worker_here() is theirs.worker


def test_a_request_that_wants_all_its_logits_is_not_injected() -> None:
    side, asked = known(connector()), request("r", skip_reading_prefix_cache=True)
    side.on_new_request(asked)
    assert side.get_num_new_matched_tokens(asked, 0) == (0, False)
    assert side.scheduler.stats()["pinned_segments"] == 1  # the one just encoded
    side.scheduler.step_orders({})
    side.scheduler.check_integrity()
