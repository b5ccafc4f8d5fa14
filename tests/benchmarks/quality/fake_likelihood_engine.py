"""A fake engine whose likelihood of an answer depends on the arm."""

import math
from collections.abc import AsyncGenerator, Callable

from memory_engine.engines.fake import FakeEngine
from memory_engine.types import Chunk, Mode, Prompt, Sampling

# Nats a token that the answer costs.
WITHOUT_FACTS, AS_TEXT, AS_KV = 3.0, 1.0, 1.5
_OTHER = 7  # the token that it would rather say


class FakeLikelihoodEngine(FakeEngine):
    """An engine that costs an answer more nats without facts than as KV, and as KV than as text.

    A prompt without facts has no spans here: it is laid out without the header.
    """

    def __init__(
        self,
        reply: Callable[[Prompt], str] = lambda prompt: "a b c",
        *,
        max_model_len: int = 4096,
        loses: bool = False,
    ) -> None:
        super().__init__(reply, max_model_len=max_model_len)
        self._loses = loses
        self.asked: list[tuple[Mode, Prompt, Sampling]] = []

    async def generate(
        self, prompt: Prompt, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        self.asked.append((mode, prompt, sampling))
        cost = AS_KV if mode is Mode.KV else AS_TEXT if prompt.spans else WITHOUT_FACTS
        if self._loses and mode is Mode.KV:
            self._resident.clear()
        async for chunk in super().generate(prompt, mode, sampling):
            if chunk.token_ids:
                rest = math.log(1 - math.exp(-cost))
                logprobs = {_OTHER: rest} | dict.fromkeys(chunk.token_ids, -cost)
                yield Chunk(chunk.text, chunk.token_ids, logprobs=(logprobs,))
            else:
                yield chunk
