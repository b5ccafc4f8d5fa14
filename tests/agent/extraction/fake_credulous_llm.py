"""A scripted model that calls every line it is shown a statement: what is refused, code refuses."""

import json

from agent.extraction.extractor import Extractor
from agent.extraction.llm_extractor import LlmExtractor
from agent.extraction.rule_extractor import RuleExtractor
from memory_engine.engines.fake import FakeEngine
from memory_engine.types import Prompt
from tests.agent.fake_memory import FakeMemory, text_of

RULE = "-" * 8
EXTRACTORS = ("rules", "model")


def credulous_answer(prompt: Prompt) -> str:
    """An extraction that quotes every line of the message, and then the prompt itself."""
    asked, shown, _ = text_of(prompt).split(f"\n{RULE}")
    quotes = [*shown.strip().splitlines(), asked.splitlines()[-1]][:8]
    return json.dumps(
        {
            "statements": [
                {
                    "quote": quote[:300],
                    "subject": "user",
                    "name": "",
                    "attribute": "none",
                    "value": "",
                    "polarity": "affirmed",
                    "kind": "stable",
                    "time_expression": "",
                }
                for quote in quotes
            ]
        }
    )


async def extractor_of(name: str) -> Extractor:
    """The extractor called `name`; the model-based one over the credulous_answer model."""
    if name == "rules":
        return RuleExtractor()
    engine = FakeEngine(credulous_answer, max_model_len=10**6)
    await engine.start()
    return LlmExtractor(FakeMemory(engine))
