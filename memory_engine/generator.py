"""Generation from a laid-out prompt, between the engine and the encoding beside it."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from memory_engine.encoding.encoding_queue import EncodingQueue
from memory_engine.engines.base import Engine
from memory_engine.types import Chunk, Mode, Plan, Sampling


class ReplyGenerator:
    """Streams replies from `engine`; `encoding` makes room for them and hears of lost KV."""

    def __init__(self, engine: Engine, encoding: EncodingQueue) -> None:
        self._engine = engine
        self._encoding = encoding
        # Part of the prefix-cache salt of a user's requests; a new one leaves behind what
        # the cache holds of their earlier prompts.
        self._salts: dict[str, str] = {}

    async def stream(
        self, plan: Plan, mode: Mode, sampling: Sampling
    ) -> AsyncGenerator[Chunk, None]:
        """Generate from a plan; closing the iterator aborts the request.

        Segments that turn out not to be resident are encoded again in the background. Raises
        EngineError.
        """
        salt = self._salts.get(plan.prompt.owner, "") + sampling.cache_salt
        sampling = replace(sampling, cache_salt=salt)
        generating = self._engine.generate(plan.prompt, mode, sampling)
        first_token = self._encoding.reply(plan.prompt.owner)
        try:
            async with aclosing(generating) as chunks:
                async for chunk in chunks:
                    first_token()
                    if chunk.usage is not None and chunk.usage.missing:
                        self._encoding.lost(plan.prompt.owner, chunk.usage.missing)
                    yield chunk
        finally:
            first_token()

    def forget_prompts(self, owner: str) -> None:
        """Make what vLLM's prefix cache holds of the owner's prompts unreachable."""
        self._salts[owner] = secrets.token_hex(8)
