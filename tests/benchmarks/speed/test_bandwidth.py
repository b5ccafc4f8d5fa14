"""The injection alone: its synthetic cache is one the connector learns and the kernel serves."""

import pytest
import torch

from benchmarks.speed.bandwidth import (
    CacheShape,
    _index,
    measure_bandwidth,
    synthetic_layers,
    synthetic_rope,
)
from memory_engine.connector.gpu.copies import TorchCopies
from memory_engine.connector.segments.tier_store import TierStore

SHAPE = CacheShape(layers=2, kv_heads=2, head_dim=16, dtype="bfloat16")


def test_every_token_has_a_page_slot_of_its_own_beside_the_spare_page() -> None:
    slots, pages, positions = _index(50, 6)
    assert len(set(pages.tolist())) == 50
    assert int(pages.max()) < 6 * 16
    assert slots.tolist() == positions.tolist() == list(range(50))


def test_the_synthetic_cache_can_be_injected_into() -> None:
    layers = synthetic_layers(SHAPE, 8, "cpu")
    assert layers[0].strides is not None
    assert layers[1].same_layout(layers[0])
    store = TierStore(50, (2, 2, 16), torch.bfloat16, torch.device("cpu"))
    store.data.normal_()
    index = _index(50, 6)
    TorchCopies(layers, [(synthetic_rope(16, 50, "cpu"), [0, 1])]).load(store, index)
    values = layers[1].read(index[1].long())[:, 1]
    assert torch.equal(values, store.data[:, 1, 1])


@pytest.mark.gpu
def test_it_is_measured_against_a_copy() -> None:
    shape = CacheShape(layers=32, kv_heads=8, head_dim=128, dtype="bfloat16")
    report = measure_bandwidth(shape, 40)
    assert report["bytes_a_token"] == 128 * 1024
    assert [row["k"] for row in report["rows"]] == [50, 200]
    assert all(0 < row["percent_of_copy"] < 120 for row in report["rows"])
