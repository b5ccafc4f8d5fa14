"""Two thousand requests in a row leave nothing behind, checked after each."""

import random
from pathlib import Path

from memory_engine.types import Prompt
from tests.memory_engine.engines.real_vllm.tiny_vllm import outcome, tiny_engine, tokens
from tests.memory_engine.engines.test_embedded import words

REQUESTS = 2000


async def test_two_thousand_requests_leak_no_pin_slot_or_block(tmp_path: Path) -> None:
    """With an arena that evicts to host memory, drops, aborts and hits of the prefix cache."""
    rng = random.Random(8)
    sizes = {"arena_bytes": 1 << 20, "host_bytes": 1 << 20, "kv_cache_bytes": 1 << 20}
    async with tiny_engine(tmp_path, **sizes) as engine:
        prompts: list[Prompt] = []
        expected: list[list[int]] = []
        for number in range(12):
            ids = [3 + word % 500 for word in words(90, number)]
            prompts.append(await engine.remember("anna", ids, [30, 25]))
            expected.append(tokens(engine.one(prompts[-1], 2, text=True)))
        injected = 0
        for number in range(REQUESTS):
            chosen = rng.randrange(len(prompts))
            if number % 97 == 0:
                await engine.drop("anna", [prompts[chosen].spans[1].segment_id])
                prompts[chosen] = await engine.remember("anna", prompts[chosen].token_ids, [30, 25])
            salt = f"{chosen}" if rng.random() < 0.3 else None
            added = engine.add(prompts[chosen], 2, salt=salt)
            if number % 13 == 0:
                for _ in range(number % 3):
                    engine.vllm.step()
                engine.vllm.abort_request([added], internal=True)
                engine.drain()
            else:
                (output,) = engine.drain().values()
                assert tokens(output) == expected[chosen]
                injected += outcome(output)["injected"] > 0
            engine.require_nothing_leaked()
        stats = engine.planner.stats()
        assert injected > REQUESTS / 2
        assert stats["promotions"] > 100
        assert stats["evictions"] > 100
        await engine.drop("anna")
        await engine.drop("conformance-gate")
        engine.one(prompts[0], 2, text=True)
        stats = engine.planner.stats()
        assert stats["tokens_used"] == stats["host_tokens_used"] == stats["pinned_segments"] == 0
