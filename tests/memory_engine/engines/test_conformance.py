"""The gate's look at the engine itself: what is decoded has to agree with a prefill."""

import math
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from memory_engine.engines.base import EncodeJob
from memory_engine.engines.conformance import require_decoding
from memory_engine.errors import UnsupportedModelError
from memory_engine.types import Chunk, Sampling, Usage

VOCABULARY = 1000


class Toy:
    """An engine whose next token is told by the sum of all before it.

    wrong_from: place in a reply from which it is told something else; None for never.
    """

    def __init__(self, wrong_from: int | None = None) -> None:
        self._wrong_from = wrong_from

    async def request(
        self,
        owner: str,
        token_ids: list[int],
        salt: str,
        params: dict[str, object] | None,
        sampling: Sampling,
    ) -> AsyncGenerator[tuple[Chunk, dict[str, Any]], None]:
        ids = list(token_ids)
        for place in range(sampling.max_tokens):
            wrong = self._wrong_from is not None and place >= self._wrong_from
            ids.append((sum(ids) + wrong) % VOCABULARY)
            yield Chunk("", (ids[-1],), logprobs=({ids[-1]: math.log(0.9)},)), {}
        yield Chunk("", (), Usage(len(token_ids), 0), "length"), {}

    async def encode(self, job: EncodeJob) -> tuple[str, ...]:
        raise NotImplementedError

    async def drop(self, owner: str, segment_ids: list[str] | None = None) -> int:
        raise NotImplementedError


async def test_an_engine_that_decodes_what_it_prefills_is_trusted() -> None:
    await require_decoding(Toy(), VOCABULARY, "torch.bfloat16")


@pytest.mark.parametrize("place", [1, 5])
async def test_an_engine_that_decodes_something_else_is_not(place: int) -> None:
    # What went wrong earlier is seen in the probabilities that the prefill gives the last token.
    with pytest.raises(UnsupportedModelError, match=r"token 6 of a reply differ by 0\.9"):
        await require_decoding(Toy(place), VOCABULARY, "torch.bfloat16")
