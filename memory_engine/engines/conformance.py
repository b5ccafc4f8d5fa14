"""The conformance gate: a model may use KV injection only after it has passed.

probe      undoing RoPE gives position-free keys at every layer (`connector.gpu.probe`)
shift      segments injected in another order and at other positions than they were encoded
           at cannot be told from the engine's own keys, at every layer
identity   a prompt whose front is encoded and injected in place gives the same next-token
           probabilities as its prefill

Before all that the engine itself has to be right: a token that it decodes, beside other
requests, is as likely as behind a prefill of all before it.
"""

import asyncio
import math
import random
import uuid
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol

from memory_engine.connector.protocol.params import inject_params, probe_params
from memory_engine.engines.base import EncodeJob
from memory_engine.errors import EngineError, UnsupportedModelError
from memory_engine.types import Chunk, Conformance, Mode, Prompt, Sampling, Span

# Total variation distance of next-token probabilities that rounding explains, by dtype.
_TOLERANCE = {"torch.float32": 2e-3, "torch.float16": 3e-2, "torch.bfloat16": 0.1}
_TOLERANCE_FP8 = 0.1
_PROBE_TOKENS = 61
_TOGETHER, _REPLY_TOKENS = 6, 6
_TOP = 20


class GateEngine(Protocol):
    """Interface of an engine that is up but not yet trusted."""

    def request(
        self,
        owner: str,
        token_ids: list[int],
        salt: str,
        params: dict[str, object] | None,
        sampling: Sampling,
    ) -> AsyncGenerator[tuple[Chunk, dict[str, Any]], None]: ...

    async def encode(self, job: EncodeJob) -> tuple[str, ...]: ...

    async def drop(self, owner: str, segment_ids: list[str] | None = None) -> int: ...


async def run_gate(
    engine: GateEngine, vocab_size: int, dtype: str, *, fp8: bool = False
) -> Conformance:
    """Run all checks; the verdict names the first that failed and its error.

    dtype: of the model. fp8: whether KV is stored in FP8, which rounds it once more. Raises
    UnsupportedModelError if not even text is served rightly.
    """
    await require_decoding(engine, vocab_size, dtype)
    owner = _owner()
    token = random.Random(1).randrange(vocab_size // 2, vocab_size - 1)
    checks: dict[str, float] = {}
    try:
        reason, checks = await _probe(engine, owner, token, ())
        if reason:
            return Conformance(False, reason, checks)
        reason, shifted = await _shift(engine, owner, token)
        checks["shift"] = max(shifted.values(), default=float("inf"))
        if reason:
            return Conformance(False, f"after an injection {reason}", checks)
        checks["identity"] = await _identity(engine, owner, vocab_size)
    except EngineError as error:
        return Conformance(False, str(error), checks)
    finally:
        await engine.drop(owner)
    allowed = max(_TOLERANCE[dtype], _TOLERANCE_FP8 if fp8 else 0.0)
    if not checks["identity"] <= allowed:
        found = f"{checks['identity']:.3g}, allowed is {allowed}"
        return Conformance(
            False, f"injection changes the next token's probabilities: {found}", checks
        )
    return Conformance(True, "", checks)


def _owner() -> str:
    # Several programs may check one engine at a time, and ids are never shared or replaced.
    return f"conformance-gate-{uuid.uuid4().hex[:8]}"


async def _probe(
    engine: GateEngine, owner: str, token: int, spans: tuple[Span, ...]
) -> tuple[str, dict[str, float]]:
    # Two tokens: the verdict of the first step arrives before the second one ends.
    sampling = Sampling(max_tokens=2, ignore_eos=True)
    params = probe_params(owner, spans)
    outcome: dict[str, Any] = {}
    ids = [token] * _PROBE_TOKENS
    async for _, found in engine.request(owner, ids, uuid.uuid4().hex, params, sampling):
        outcome = found or outcome
    if outcome.get("error"):
        raise EngineError(str(outcome["error"]))
    _require_injected(outcome, spans)
    return str(outcome["reason"]), dict(outcome["errors"])


async def _shift(engine: GateEngine, owner: str, token: int) -> tuple[str, dict[str, float]]:
    a, b = f"{owner}-a", f"{owner}-b"
    encoded = (Span(a, 0, 19), Span(b, 19, 57))
    await engine.encode(EncodeJob(owner, [token] * _PROBE_TOKENS, encoded))
    return await _probe(engine, owner, token, (Span(b, 0, 38), Span(a, 38, 57)))


async def contrast(engine: GateEngine, vocab_size: int) -> float:
    """Error that the identity check finds when other tokens were encoded than are served.

    If it is near the tolerance, the injected part matters too little to this model for
    the check to see anything.
    """
    owner = _owner()
    try:
        return await _identity(engine, owner, vocab_size, encoded_seed=3)
    finally:
        await engine.drop(owner)


async def _identity(
    engine: GateEngine, owner: str, vocab_size: int, encoded_seed: int = 2
) -> float:
    """Half the sum of differences between two next-token distributions, over the likeliest."""
    ids, encoded = (_words(seed, vocab_size) for seed in (2, encoded_seed))
    cuts = ((0, 13), (13, 54), (54, 69))
    spans = tuple(Span(f"{owner}-{encoded_seed}-{start}", start, end) for start, end in cuts)
    await engine.encode(EncodeJob(owner, encoded, spans))
    exact = await _next_token(engine, Prompt(owner, ids, spans), Mode.TEXT)
    injected = await _next_token(engine, Prompt(owner, ids, spans), Mode.KV)
    return _distance(exact, injected)


async def require_decoding(engine: GateEngine, vocab_size: int, dtype: str) -> None:
    """Raise UnsupportedModelError unless what is decoded agrees with a prefill."""
    prompts = [_words(10 + number, vocab_size) for number in range(_TOGETHER)]
    replies = await asyncio.gather(*(_decoded(engine, ids) for ids in prompts))
    for ids, (said, decoded) in zip(prompts, replies, strict=True):
        prefilled = await _next_token(engine, Prompt("", [*ids, *said[:-1]]), Mode.TEXT)
        error = _distance(prefilled, decoded)
        if not error <= _TOLERANCE[dtype]:
            raise UnsupportedModelError(
                f"vLLM decodes other tokens than it prefills: the probabilities of token "
                f"{len(said)} of a reply differ by {error:.3g}, allowed is {_TOLERANCE[dtype]}. "
                "No reply of this model could be trusted here; try another version of vLLM."
            )


async def _decoded(engine: GateEngine, ids: list[int]) -> tuple[list[int], dict[int, float]]:
    """A greedy reply, and the probabilities of its last token."""
    said: list[int] = []
    last: dict[int, float] = {}
    sampling = Sampling(max_tokens=_REPLY_TOKENS, ignore_eos=True, logprobs=_TOP)
    async for chunk, _ in engine.request("", ids, uuid.uuid4().hex, None, sampling):
        said += chunk.token_ids
        for step in chunk.logprobs:
            last = {token: math.exp(value) for token, value in step.items()}
    return said, last


def _distance(one: dict[int, float], other: dict[int, float]) -> float:
    tokens = one.keys() | other.keys()
    return sum(abs(one.get(t, 0.0) - other.get(t, 0.0)) for t in tokens) / 2


def _words(seed: int, vocab_size: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(vocab_size // 4, vocab_size - 1) for _ in range(77)]


async def _next_token(engine: GateEngine, prompt: Prompt, mode: Mode) -> dict[int, float]:
    params = inject_params(prompt.owner, prompt.spans) if mode is Mode.KV else None
    found: dict[int, float] = {}
    salt, sampling = uuid.uuid4().hex, Sampling(max_tokens=1, logprobs=_TOP)
    outputs = engine.request(prompt.owner, prompt.token_ids, salt, params, sampling)
    async for chunk, outcome in outputs:
        for step in chunk.logprobs:
            found = {token: math.exp(value) for token, value in step.items()}
        if mode is Mode.KV and chunk.usage is not None:
            _require_injected(outcome, prompt.spans)
    return found


def _require_injected(outcome: dict[str, Any], spans: Sequence[Span]) -> None:
    if outcome.get("injected", 0) != sum(span.length for span in spans):
        raise EngineError(f"the gate's segments were not injected: {outcome}")
