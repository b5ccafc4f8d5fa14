"""Arena to pages and back: the plain copies on the CPU, the fused kernels on a GPU."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch

from memory_engine.connector.gpu.copies import Copies, TorchCopies
from memory_engine.connector.gpu.fused import FusedCopies, NotFusedError, require_agreement
from memory_engine.connector.gpu.pages import PagedLayer
from memory_engine.connector.gpu.rope import Rope
from memory_engine.connector.segments.tier_store import FP8, TierStore
from tests.memory_engine.connector.gpu import fake_pages as paged

TOKENS = 37


@dataclass(frozen=True)
class Shape:
    """A model's shape: layers without RoPE are named by their number."""

    layers: int
    heads: int
    head_dim: int
    rotary_dim: int
    dtype: torch.dtype = torch.float32
    neox: bool = True
    factor: float = 1.0
    without_rope: tuple[int, ...] = ()
    heads_first: bool = False


SHAPES = {
    "llama": Shape(2, 8, 128, 128, torch.bfloat16),
    "smollm": Shape(3, 3, 64, 64),
    "glm": Shape(2, 2, 128, 64, torch.bfloat16, neox=False),
    "phi": Shape(2, 5, 80, 32, torch.float16, factor=1.19),
    "layers without rope": Shape(4, 2, 64, 64, without_rope=(1, 3)),
    "heads first": Shape(2, 8, 128, 128, torch.bfloat16, heads_first=True),
}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


class Workload:
    """Layers, their RoPE, a store and the copies of a device."""

    def __init__(self, shape: Shape, device: str, stored: torch.dtype | None = None) -> None:
        self.shape, self.device = shape, device
        self.layers = paged.layers(
            shape.layers,
            shape.heads,
            shape.head_dim,
            shape.dtype,
            device,
            heads_first=shape.heads_first,
        )
        rows = [row for row in range(shape.layers) if row not in shape.without_rope]
        self.rope = paged.rope(shape.rotary_dim, device, neox=shape.neox, factor=shape.factor)
        self.ropes = [(self.rope, rows)]
        self.stored = stored or shape.dtype
        self.store = self.new_store(64, device)
        self.plain = TorchCopies(self.layers, self.ropes)
        self.copies: Copies = self.plain
        if device == "cuda":
            self.copies = FusedCopies(self.layers, self.ropes)
        torch.manual_seed(3)

    def new_store(self, slots: int, device: str) -> TierStore:
        shape = (self.shape.layers, self.shape.heads, self.shape.head_dim)
        pin = device == "cpu" and self.device == "cuda"
        return TierStore(slots, shape, self.stored, torch.device(device), pin=pin)

    def index(self) -> torch.Tensor:
        """A transfer of distinct slots in no order, int32 [3, TOKENS]."""
        slots, pages = torch.randperm(64)[:TOKENS], torch.randperm(8 * paged.BLOCK)[:TOKENS]
        positions = torch.randint(0, 600, (TOKENS,))
        return torch.stack([slots, pages, positions]).int().to(self.device)

    def fill_pages(self, index: torch.Tensor) -> torch.Tensor:
        """Write random KV as the engine would: unrotated fp32 [tokens, layers, 2, heads, dim]."""
        dims = (self.shape.layers, 2, self.shape.heads, self.shape.head_dim)
        kv = torch.randn(TOKENS, *dims).to(self.device)
        for row, layer in enumerate(self.layers):
            keys = kv[:, row, 0].clone()
            if row not in self.shape.without_rope:
                self.rope.rotate(keys, index[2].long())
            layer.write(keys.to(layer.cache.dtype), kv[:, row, 1].to(layer.cache.dtype), index[1])
        return kv

    def pages(self, index: torch.Tensor) -> torch.Tensor:
        return torch.stack([layer.read(index[1].long()) for layer in self.layers], dim=1).float()


def steps(bench: Workload) -> float:
    """The error that rounding explains, relative to the largest value."""
    return 2 * max(torch.finfo(dtype).eps for dtype in (bench.shape.dtype, bench.stored))


def error(got: torch.Tensor, expected: torch.Tensor) -> float:
    return float((got - expected).abs().max() / expected.abs().max())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_encoding_keeps_keys_without_their_rotation(shape: Shape, device: str) -> None:
    bench = Workload(shape, device)
    index = bench.index()
    kv = bench.fill_pages(index)
    bench.copies.save(bench.store, index)
    assert error(bench.store.get(index[0].long()), kv) <= steps(bench)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_injected_pages_are_those_the_engine_would_have_written_there(
    shape: Shape, device: str
) -> None:
    bench = Workload(shape, device)
    saved, served = bench.index(), bench.index()
    served[0] = saved[0]
    kv = bench.fill_pages(saved)
    bench.copies.save(bench.store, saved)
    bench.copies.load(bench.store, served)
    got = bench.pages(served)
    for row in range(shape.layers):
        if row not in shape.without_rope:
            bench.rope.rotate(kv[:, row, 0], served[2].long())
    assert error(got, kv) <= 2 * steps(bench)


@pytest.mark.parametrize("device", DEVICES)
def test_injection_writes_no_page_slot_but_its_own(device: str) -> None:
    bench = Workload(SHAPES["llama"], device)
    index = bench.index()
    for layer in bench.layers:
        layer.cache.fill_(7.0)
    bench.copies.load(bench.store, index)
    others = torch.tensor(sorted(set(range(9 * paged.BLOCK)) - set(index[1].tolist())))
    untouched = torch.stack([layer.read(others.to(device)) for layer in bench.layers])
    assert bool((untouched == 7.0).all())
    assert not bench.pages(index).any()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [SHAPES["llama"], SHAPES["glm"], SHAPES["phi"]])
def test_fp8_keeps_every_vector_to_a_sixteenth_of_its_largest_value(
    shape: Shape, device: str
) -> None:
    bench = Workload(shape, device, stored=FP8)
    index = bench.index()
    kv = bench.fill_pages(index)
    bench.copies.save(bench.store, index)
    worst = ((bench.store.get(index[0].long()) - kv).abs() / kv.abs().amax(-1, True)).max()
    assert float(worst) <= 1 / 16
    assert bench.store.data.element_size() == 1


@pytest.mark.parametrize("stored", [None, FP8])
@pytest.mark.parametrize("device", DEVICES)
def test_a_move_to_host_memory_and_back_changes_no_bit(
    device: str, stored: torch.dtype | None
) -> None:
    bench = Workload(SHAPES["smollm"], device, stored)
    index = bench.index()
    bench.fill_pages(index)
    bench.copies.save(bench.store, index)
    host, again = bench.new_store(50, "cpu"), bench.new_store(40, device)
    there = torch.randperm(50)[:TOKENS].int().to(device)
    back = torch.randperm(40)[:TOKENS].int().to(device)
    bench.copies.move(bench.store, index[0], host, there)
    bench.copies.move(host, there, again, back)
    for before, after in zip(bench.store.rows(), again.rows(), strict=True):
        assert torch.equal(before[index[0].long()], after[back.long()])


@pytest.mark.gpu
@pytest.mark.parametrize("stored", [None, FP8])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_fused_kernels_agree_with_the_plain_copies(
    shape: Shape, stored: torch.dtype | None
) -> None:
    bench = Workload(shape, "cuda", stored)
    require_agreement(bench.copies, bench.plain, bench.layers, bench.store)
    assert not any(bool(layer.cache.any()) for layer in bench.layers)


@pytest.mark.parametrize("stored", [torch.float32, torch.bfloat16, FP8])
def test_a_store_of_any_size_is_seen_as_rows_of_its_own_memory(stored: torch.dtype) -> None:
    for slots in (0, 3):
        store = TierStore(slots, (2, 3, 64), stored, torch.device("cpu"))
        for rows, tensor in zip(store.rows(), store.tensors(), strict=True):
            assert rows.shape == (
                slots,
                2 * 2 * 3 * (64 if tensor is store.data else 1) * tensor.element_size() // 4,
            )
            assert rows.data_ptr() == tensor.data_ptr()


def test_without_a_gpu_there_are_no_fused_kernels() -> None:
    bench = Workload(SHAPES["smollm"], "cpu")
    with pytest.raises(NotFusedError, match="GPU"):
        FusedCopies(bench.layers, bench.ropes)


def test_copies_that_disagree_are_found_out() -> None:
    class Wrong(TorchCopies):
        def __init__(
            self, layers: Sequence[PagedLayer], ropes: Sequence[tuple[Rope, list[int]]]
        ) -> None:
            swapped = [(Rope(rope.table, not rope.neox), rows) for rope, rows in ropes]
            super().__init__(layers, swapped)

    bench = Workload(SHAPES["llama"], "cpu")
    with pytest.raises(NotFusedError, match="injects with an error"):
        require_agreement(Wrong(bench.layers, bench.ropes), bench.plain, bench.layers, bench.store)
    require_agreement(bench.plain, bench.plain, bench.layers, bench.store)
