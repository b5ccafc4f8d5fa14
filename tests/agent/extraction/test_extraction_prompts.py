"""No word of a prompt comes back as a fact."""

from functools import partial

from agent.extraction.extraction_prompts import CANARY, EXTRACTION
from memory_engine.types import Prompt
from tests.agent.extraction.test_llm_extractor import answer, asked, statement


async def test_no_word_of_the_prompt_becomes_a_fact() -> None:
    """vectorize-io/hindsight#4280, ormah#276, mem0#2736: a prompt's examples are stored."""
    own = [line.lstrip("- ") for line in EXTRACTION.splitlines() if "{" not in line]
    for quote in (CANARY, f"{CANARY}.", "Quimbrax", *own):
        reply = partial(_always, answer(statement(quote[:300], value="eleven")))
        assert await asked("I play golf. My name is Anna.", reply) == []


def _always(reply: str, prompt: Prompt) -> str:
    return reply
