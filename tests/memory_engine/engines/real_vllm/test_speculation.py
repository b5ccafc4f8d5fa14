"""Speculative decoding: drafts are computed and rejected behind a prompt that was injected."""

from pathlib import Path
from typing import Any

import pytest

from tests.memory_engine.engines.real_vllm.test_interleavings import words
from tests.memory_engine.engines.real_vllm.tiny_vllm import TinyEngine, outcome, tiny_engine, tokens

NGRAM = {
    "method": "ngram",
    "num_speculative_tokens": 3,
    "prompt_lookup_max": 3,
    "prompt_lookup_min": 1,
}
REPLY = 24  # tokens


# vLLM's own proposer hands numba a list.
@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPendingDeprecationWarning")
async def test_speculating_replies_to_injected_prompts_as_to_text(tmp_path: Path) -> None:
    """The prompts repeat themselves, so that there is something to guess."""
    lengths = (33, 60, 95, 96)
    async with tiny_engine(tmp_path, speculative_config=NGRAM) as engine:
        prompts = []
        for number, length in enumerate(lengths):
            # The last one leaves a single token, which vLLM pads with drafts.
            ids = (words(12, seed=80 + number) * 9)[:97]
            prompts.append(await engine.remember("anna", ids, [20, length - 20]))
        alone = [tokens(engine.one(prompt, REPLY, text=True)) for prompt in prompts]
        assert [tokens(engine.one(prompt, REPLY)) for prompt in prompts] == alone
        for prompt in prompts:
            engine.add(prompt, REPLY)
        outputs, steps = drained(engine)
        of = {tuple(output.prompt_token_ids): output for output in outputs}
        together = [of[tuple(prompt.token_ids)] for prompt in prompts]
        assert [tokens(output) for output in together] == alone
        assert [outcome(output)["injected"] for output in together] == list(lengths)
        # Some drafts were right, or every token had taken a step.
        assert steps < REPLY
        engine.require_nothing_leaked()


def drained(engine: TinyEngine) -> tuple[list[Any], int]:
    """All requests to their end: their outputs, and in how many steps."""
    outputs: list[Any] = []
    steps = 0
    while engine.vllm.has_unfinished_requests():
        outputs += [output for output in engine.vllm.step() if output.finished]
        steps += 1
    return outputs, steps
