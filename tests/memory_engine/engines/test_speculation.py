"""Speculative decoding: drafts are computed and rejected behind a prompt that was injected."""

import asyncio
from pathlib import Path

from memory_engine.engines.embedded import EmbeddedEngine
from memory_engine.types import Mode
from tests.memory_engine.engines.test_embedded import cut, encoded, reply, words


async def test_speculating_replies_to_injected_prompts_as_to_text(bundled_llm: Path) -> None:
    """The prompts repeat themselves, so that there is something to guess."""
    engine = EmbeddedEngine(
        bundled_llm,
        arena_bytes=40 << 20,
        kv_cache_bytes=60 << 20,
        max_model_len=1024,
        dtype="float32",
        max_num_batched_tokens=256,
        block_size=32,
        speculative_config={
            "method": "ngram",
            "num_speculative_tokens": 3,
            "prompt_lookup_max": 3,
            "prompt_lookup_min": 1,
        },
    )
    await engine.start()
    try:
        assert engine.conformance.supported, engine.conformance.reason
        prompts = []
        for number, length in enumerate((33, 60, 95, 96)):
            # The last one leaves a single token, which vLLM pads with drafts.
            ids = (words(12, seed=80 + number) * 9)[:97]
            prompts.append(await encoded(engine, "anna", ids, cut(ids, [20, length - 20])))
        alone = [(await reply(engine, p, Mode.TEXT, tokens=24))[0] for p in prompts]
        assert [(await reply(engine, p, Mode.KV, tokens=24))[0] for p in prompts] == alone
        together = await asyncio.gather(*(reply(engine, p, Mode.KV, tokens=24) for p in prompts))
        assert [ids for ids, _ in together] == alone
        assert [usage.injected_tokens for _, usage in together] == [33, 60, 95, 96]
        assert (await engine.arena()).pinned_segments == 0
    finally:
        await engine.aclose()
