"""Scoring of a prompt: the greedy reply, and the likelihood of a given answer."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.speed.measured_request import require_injected
from memory_engine.engines.base import Engine
from memory_engine.errors import EngineError
from memory_engine.types import Chunk, Mode, Prompt, Sampling, Usage

TOP = 20  # vLLM gives no more log probabilities, unless it is told to


@dataclass(frozen=True, slots=True)
class GreedyReply:
    """A greedy reply: its text, and its token ids with the end's."""

    text: str
    token_ids: tuple[int, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """A reply, and the model's likelihoods of a given answer, token by token.

    nll: its negative log likelihood, nats a token. likeliest: ids of the tokens that the model
    would have said in place of each, the answer's own before it. first: natural log
    probabilities of the likeliest tokens in place of the first, by id.
    """

    reply: GreedyReply
    nll: float
    likeliest: tuple[int, ...]
    first: Mapping[int, float]


async def score(
    engine: Engine, prompt: Prompt, mode: Mode, answer: Sequence[int], most_tokens: int
) -> ScoredAnswer:
    """Reply to `prompt` with at most `most_tokens`, and score the token ids of `answer`.

    vLLM injects nothing where it is to give log probabilities of prompt tokens, so every
    token of the answer is the forced reply to a request of its own, whose prompt ends before
    it. All requests share a cache salt that nobody else has: the reply comes first, and the
    others find its prompt in the prefix cache. Raises EngineError if anything planned was
    not injected.
    """
    salt = uuid.uuid4().hex
    replied = await greedy_reply(engine, prompt, mode, most_tokens, salt)
    forced = [
        _forced(engine, _extended(prompt, answer[:place]), mode, token, salt)
        for place, token in enumerate(answer)
    ]
    found = await asyncio.gather(*forced)
    said = [distribution[token] for distribution, token in zip(found, answer, strict=True)]
    likeliest = tuple(max(distribution, key=distribution.__getitem__) for distribution in found)
    return ScoredAnswer(replied, -sum(said) / len(said), likeliest, found[0])


async def greedy_reply(
    engine: Engine, prompt: Prompt, mode: Mode, most_tokens: int, salt: str = ""
) -> GreedyReply:
    """Generate a greedy reply of at most `most_tokens`; without a `salt` nothing is cached.

    Raises EngineError if anything planned was not injected.
    """
    sampling = Sampling(max_tokens=most_tokens, cache_salt=salt or uuid.uuid4().hex)
    chunks = await _generated(engine, prompt, mode, sampling)
    ids = tuple(token for chunk in chunks for token in chunk.token_ids)
    usage = next((chunk.usage for chunk in chunks if chunk.usage), None)
    if usage is None:
        raise EngineError("The engine ended a reply without its usage.")
    return GreedyReply("".join(chunk.text for chunk in chunks), ids, usage)


async def _forced(
    engine: Engine, prompt: Prompt, mode: Mode, token: int, salt: str
) -> Mapping[int, float]:
    """Return log probabilities of `token` and of the likeliest ones."""
    sampling = Sampling(max_tokens=1, cache_salt=salt, logprobs=TOP, allowed_tokens=(token,))
    for chunk in await _generated(engine, prompt, mode, sampling):
        if chunk.logprobs:
            return chunk.logprobs[0]
    raise EngineError("The engine ended a reply without log probabilities.")


async def _generated(engine: Engine, prompt: Prompt, mode: Mode, sampling: Sampling) -> list[Chunk]:
    chunks = [chunk async for chunk in engine.generate(prompt, mode, sampling)]
    for chunk in chunks:
        if mode is Mode.KV and chunk.usage is not None:
            require_injected(prompt, chunk.usage)
    return chunks


def _extended(prompt: Prompt, said: Sequence[int]) -> Prompt:
    return Prompt(prompt.owner, [*prompt.token_ids, *said], prompt.spans)
