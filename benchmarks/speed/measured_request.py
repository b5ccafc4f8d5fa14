"""Measurement of one request, and checks of injected and cached tokens."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from memory_engine.engines.base import Engine
from memory_engine.errors import EngineError
from memory_engine.types import Mode, Prompt, Sampling, Usage


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """Times of one reply in milliseconds, as its client saw them; names are vLLM's.

    ttft: from asking to the first token. itl: between the pieces that follow. e2el: from
    asking to the end.
    """

    ttft: float
    e2el: float
    usage: Usage
    itl: list[float] = field(default_factory=list)

    @property
    def tpot(self) -> float | None:
        """Milliseconds a token after the first; None if there is none."""
        later = self.usage.output_tokens - 1
        return (self.e2el - self.ttft) / later if later > 0 else None


async def measure_request(
    engine: Engine,
    prompt: Prompt,
    mode: Mode,
    salt: str = "",
    output_tokens: int = 1,
    on_first: Callable[[], None] | None = None,
) -> RequestTimes:
    """Generate exactly `output_tokens`. Without a `salt` nothing is in the prefix cache.

    on_first: called at the first token. Raises EngineError if the reply is shorter or ends
    without a usage.
    """
    sampling = Sampling(
        max_tokens=output_tokens, cache_salt=salt or uuid.uuid4().hex, ignore_eos=True
    )
    pieces: list[float] = []
    started, usage = time.perf_counter(), None
    async for chunk in engine.generate(prompt, mode, sampling):
        if chunk.token_ids or chunk.text:
            pieces.append((time.perf_counter() - started) * 1000)
            if on_first is not None and len(pieces) == 1:
                on_first()
        usage = chunk.usage or usage
    if not pieces or usage is None or usage.output_tokens != output_tokens:
        raise EngineError(f"The engine ended a reply early: {usage} of {output_tokens} tokens.")
    gaps = [later - earlier for earlier, later in pairwise(pieces)]
    return RequestTimes(pieces[0], pieces[-1], usage, gaps)


def require_cold(usage: Usage) -> None:
    """Raise EngineError if anything was not prefilled."""
    if usage.injected_tokens or usage.cached_tokens:
        raise EngineError(f"A cold text request was not cold: {usage}.")


def require_injected(prompt: Prompt, usage: Usage) -> None:
    """Raise EngineError unless the whole front of the prompt was injected.

    What a preempted request had computed may come back from its own cache.
    """
    planned = sum(span.length for span in prompt.spans)
    if usage.missing or usage.injected_tokens + usage.cached_tokens < planned:
        raise EngineError(
            f"{planned} tokens were to be injected, and were not: {usage}. Is the arena too small?"
        )
