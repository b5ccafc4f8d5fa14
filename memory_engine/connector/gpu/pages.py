"""Reading and writing vLLM's paged cache, whatever its layout.

Writing goes through the attention layer's own cache update. Reading inverts it: at start
numbered elements are written through that update and looked up in the raw page, which
gives the place of every (token, head, dimension). So packed layouts (the CPU backend
interleaves keys for its vector units) need no knowledge of their packing here.
"""

from typing import Any

import torch

_BASE = 256  # integers below this are exact in bf16, fp16 and fp32


class LayoutError(Exception):
    """The cache's layout cannot be read back; the message says why."""


class PagedLayer:
    """One attention layer's paged keys and values.

    cache: the layer's cache as vLLM registered it, [blocks, ...]. Blocks here are the
    kernel's, which may divide the scheduler's; flat slots are the same in both.
    """

    def __init__(self, layer: Any, cache: torch.Tensor) -> None:
        self._layer = layer
        self.cache = cache
        self.num_heads: int = layer.num_kv_heads
        self.head_dim: int = layer.head_size
        elements = cache[0].numel()
        self.block_size = elements // (2 * self.num_heads * self.head_dim)
        if self.block_size * 2 * self.num_heads * self.head_dim != elements:
            raise LayoutError(
                f"a page of {elements} elements is not 2 x tokens x {self.num_heads} heads "
                f"x {self.head_dim} dimensions"
            )
        # [2, block_size, heads, head_dim] -> element of the page
        self._places: torch.Tensor | None = None

    @property
    def strides(self) -> tuple[int, int, int] | None:
        """Elements from K to V, from token to token and from head to head within a page.

        None where that does not describe the page, or dimensions do not lie side by side.
        """
        assert self._places is not None, "learn the layout first"
        at = self._offsets()
        counts = [torch.arange(size, device=at.device) for size in at.shape]
        steps = [
            int(at.movedim(axis, 0)[1].flatten()[0]) if at.shape[axis] > 1 else 0
            for axis in range(4)
        ]
        grids = torch.meshgrid(*counts, indexing="ij")
        described = torch.zeros_like(at)
        for step, grid in zip(steps, grids, strict=True):
            described += step * grid
        if steps[3] != 1 or not torch.equal(at, described):
            return None
        return steps[0], steps[1], steps[2]

    def write(self, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor) -> None:
        """Store keys and values [tokens, heads, head_dim] at flat page slots [tokens]."""
        self._layer.impl.do_kv_cache_update(self._layer, keys, values, self.cache, slots)

    def read(self, slots: torch.Tensor) -> torch.Tensor:
        """Keys and values at flat page slots [tokens]: [tokens, 2, heads, head_dim]."""
        assert self._places is not None, "learn the layout first"
        blocks, offsets = slots // self.block_size, slots % self.block_size
        unique, inverse = torch.unique(blocks, return_inverse=True)
        pages = self.cache.index_select(0, unique).flatten(1)
        places = self._places[:, offsets].transpose(0, 1)
        return pages[inverse[:, None, None, None], places]

    def learn(self, known: "PagedLayer | None" = None) -> None:
        """Find where `write` puts every element, on a block nobody uses yet.

        `known` is a layer of the same shape, strides and implementation that has
        learnt already. Raises LayoutError if writing and reading do not agree.
        """
        self._places = self._search() if known is None else known._places
        self._verify()

    def spare_slots(self) -> torch.Tensor:
        """Flat slots, int64 [block_size], of a page that no request holds before the first."""
        start = self._spare_block * self.block_size
        return torch.arange(start, start + self.block_size, device=self.cache.device)

    def clear_spare(self) -> None:
        """Leave the spare page as it was."""
        self.cache[self._spare_block].zero_()

    @property
    def _spare_block(self) -> int:
        # Block 0 is vLLM's null block; at registration no request holds any other.
        return self.cache.shape[0] - 1

    def same_layout(self, other: "PagedLayer") -> bool:
        """True if the two layers store their pages alike."""
        return (
            self.cache.shape == other.cache.shape
            and self.cache.stride() == other.cache.stride()
            and self.cache.dtype == other.cache.dtype
            and type(self._layer.impl) is type(other._layer.impl)
        )

    def _offsets(self) -> torch.Tensor:
        """Offsets of the elements from the start of their page in memory, shaped as `_places`."""
        assert self._places is not None
        rest, offsets = self._places, torch.zeros_like(self._places)
        for size, stride in zip(self.cache.shape[:0:-1], self.cache.stride()[:0:-1], strict=True):
            offsets += rest % size * stride
            rest = rest // size
        return offsets

    def _search(self) -> torch.Tensor:
        block, slots = self._spare_block, self.spare_slots()
        shape = (2, self.block_size, self.num_heads, self.head_dim)
        device = self.cache.device
        numbers = torch.arange(self.cache[0].numel(), device=device).reshape(shape)
        found = torch.zeros(numbers.numel(), dtype=torch.int64, device=device)
        power = 1
        while power < numbers.numel():
            digits = (numbers // power % _BASE).to(self.cache.dtype)
            self.cache[block].fill_(-1)
            self.write(digits[0], digits[1], slots)
            page = self.cache[block].flatten().to(torch.int64)
            if bool((page < 0).any()):
                raise LayoutError("the cache update leaves parts of a page unwritten")
            found += page * power
            power *= _BASE
        self.clear_spare()
        places = torch.empty_like(found)
        places[found] = torch.arange(found.numel(), device=device)
        return places.reshape(shape)

    def _verify(self) -> None:
        slots = self.spare_slots()
        shape = (self.block_size, self.num_heads, self.head_dim)
        generator = torch.Generator().manual_seed(0)
        kv = torch.randn((2, *shape), generator=generator).to(self.cache.device, self.cache.dtype)
        self.write(kv[0], kv[1], slots)
        if not torch.equal(self.read(slots), kv.transpose(0, 1)):
            raise LayoutError("what is written to the paged cache is not read back")
        self.clear_spare()
