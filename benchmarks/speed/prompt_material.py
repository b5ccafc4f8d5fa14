"""Prompt material: token ids cut into a prefix, facts and a question."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.speed.workload import PREFIX_TOKENS, QUESTION_TOKENS, prompt_tokens
from memory_engine.engines.base import EncodeJob
from memory_engine.types import Prompt, Span

OWNER = "bench"
FACTS_A_RUN = 16
_SEED = 20
_SENTENCES = (
    "my sister moved near the old harbour last spring and works there as a baker now the dog "
    "likes long walks by the river every Sunday morning we cook soup with beans on cold days "
    "his brother plays the cello in a small hall in town they want to sail north in June her "
    "garden is full of roses and tall yellow flowers I keep the blue bike in the shed at home"
)


@dataclass(frozen=True, slots=True)
class PromptMaterial:
    """Token ids of the prefix, of every fact and of the question, and their owner."""

    prefix: list[int]
    facts: list[list[int]]
    question: list[int]
    owner: str = OWNER

    @classmethod
    def cut_from(
        cls, token_ids: Sequence[int], facts: int, fact_tokens: int, owner: str = OWNER
    ) -> "PromptMaterial":
        """Cut a run of at least `prompt_tokens(facts, fact_tokens)` token ids into pieces."""
        assert len(token_ids) >= prompt_tokens(facts, fact_tokens), "too few tokens for the facts"
        ids = list(token_ids)
        facts_end = PREFIX_TOKENS + facts * fact_tokens
        starts = range(PREFIX_TOKENS, facts_end, fact_tokens)
        return cls(
            prefix=ids[:PREFIX_TOKENS],
            facts=[ids[start : start + fact_tokens] for start in starts],
            question=ids[facts_end : facts_end + QUESTION_TOKENS],
            owner=owner,
        )

    def prompt(self, order: Sequence[int]) -> Prompt:
        """Lay out prefix, these facts in this order, question: the same ids in every mode."""
        token_ids, spans = self._laid_out(order)
        return Prompt(self.owner, token_ids + self.question, spans)

    def prompts(self, count: int, k: int) -> list[Prompt]:
        """Make prompts of `k` facts that differ in facts and order. The same ones every time.

        As many as there are facts begin with different facts, so that even without a salt
        of their own no two of them share more than the prefix.
        """
        generator, numbers = random.Random(_SEED), list(range(len(self.facts)))
        made = []
        for turn in range(count):
            first = turn % len(numbers)
            others = generator.sample(numbers[:first] + numbers[first + 1 :], k - 1)
            made.append(self.prompt([first, *others]))
        return made

    def runs(self, window: int = 0, size: int = FACTS_A_RUN) -> list[EncodeJob]:
        """Cut all facts into runs; without facts the prefix alone."""
        return [self.run(first, window, size) for first in range(0, max(len(self.facts), 1), size)]

    def run(self, first: int, window: int = 0, size: int = FACTS_A_RUN) -> EncodeJob:
        """Make a run of up to `size` facts from number `first` on, one prefill with the prefix.

        Between them stand the `window` facts before these, which another run keeps.
        """
        start = max(0, first - window)
        token_ids, spans = self._laid_out(range(start, min(first + size, len(self.facts))))
        return EncodeJob(self.owner, token_ids, (spans[0], *spans[1 + first - start :]))

    def owned_by(self, owner: str) -> "PromptMaterial":
        """Copy the token ids for another owner: segments of their own, nothing cached."""
        return PromptMaterial(self.prefix, self.facts, self.question, owner)

    def _laid_out(self, order: Sequence[int]) -> tuple[list[int], tuple[Span, ...]]:
        token_ids = list(self.prefix)
        spans = [Span(f"{self.owner}-prefix", 0, len(self.prefix))]
        for number in order:
            fact = self.facts[number]
            end = len(token_ids) + len(fact)
            spans.append(Span(f"{self.owner}-fact-{number}", len(token_ids), end))
            token_ids += fact
        return token_ids, tuple(spans)


def random_tokens(vocabulary: int, count: int) -> list[int]:
    """Draw token ids for a model that has no tokenizer. The same ones every time."""
    generator = random.Random(_SEED)
    return [generator.randrange(1000, vocabulary - 1000) for _ in range(count)]


def word_tokens(model: str, count: int) -> list[int]:
    """Tokenize plain English; return the first `count` ids. The same ones every time. Blocks."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    generator = random.Random(_SEED)
    words = _SENTENCES.split()
    text = " ".join(generator.choice(words) for _ in range(count))
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
    return ids[:count]
