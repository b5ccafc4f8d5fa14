"""Page layouts are learnt from the write operation, whatever its packing."""

from types import SimpleNamespace

import pytest
import torch

from memory_engine.connector.gpu.pages import LayoutError, PagedLayer

HEADS, DIM, BLOCK = 2, 8, 4


class PackingImpl:
    """An attention implementation that stores a page's elements in an order of its own."""

    def __init__(self, order: torch.Tensor) -> None:
        self.order = order

    def do_kv_cache_update(
        self,
        layer: object,
        key: torch.Tensor,
        value: torch.Tensor,
        cache: torch.Tensor,
        slots: torch.Tensor,
    ) -> None:
        per_token = 2 * HEADS * DIM
        flat = cache.view(cache.shape[0], -1)
        for token, slot in enumerate(slots.tolist()):
            places = self.order[(slot % BLOCK) * per_token : (slot % BLOCK + 1) * per_token]
            row = torch.cat([key[token].flatten(), value[token].flatten()])
            flat[slot // BLOCK, places] = row


def layer_with(order: torch.Tensor, dtype: torch.dtype = torch.float32) -> PagedLayer:
    layer = SimpleNamespace(num_kv_heads=HEADS, head_size=DIM, impl=PackingImpl(order))
    return PagedLayer(layer, torch.zeros(5, HEADS, BLOCK, 2 * DIM, dtype=dtype))


def shuffled() -> torch.Tensor:
    return torch.randperm(2 * BLOCK * HEADS * DIM, generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_what_is_written_in_any_packing_is_read_back(dtype: torch.dtype) -> None:
    layer = layer_with(shuffled(), dtype)
    layer.learn()
    keys, values = torch.randn(6, HEADS, DIM).to(dtype), torch.randn(6, HEADS, DIM).to(dtype)
    slots = torch.tensor([17, 2, 3, 0, 9, 18])
    layer.write(keys, values, slots)
    assert torch.equal(layer.read(slots), torch.stack([keys, values], dim=1))


def test_learning_leaves_the_cache_as_it_was() -> None:
    layer = layer_with(shuffled())
    layer.learn()
    assert not layer.cache.any()


def test_a_page_that_writing_does_not_fill_is_refused() -> None:
    order = shuffled()
    order[3] = order[7]
    with pytest.raises(LayoutError, match="unwritten"):
        layer_with(order).learn()


def test_a_layer_that_packs_otherwise_than_the_known_one_is_refused() -> None:
    known = layer_with(shuffled())
    known.learn()
    with pytest.raises(LayoutError, match="not read back"):
        layer_with(torch.arange(2 * BLOCK * HEADS * DIM)).learn(known)


def test_a_page_of_another_size_is_refused() -> None:
    layer = SimpleNamespace(num_kv_heads=HEADS, head_size=DIM, impl=PackingImpl(shuffled()))
    with pytest.raises(LayoutError, match="is not 2 x tokens"):
        PagedLayer(layer, torch.zeros(5, HEADS, 9))
