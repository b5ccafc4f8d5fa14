"""The conformance gate: a model may use KV injection only after it has passed.

probe      undoing RoPE gives position-free keys at every layer (`connector.probe`)
shift      segments injected in another order and at other positions than they were encoded
           at cannot be told from the engine's own keys, at every layer
identity   a prompt whose front is encoded and injected in place gives the same next-token
           probabilities as its prefill
"""

import math
import random
import uuid
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol

from memory_engine.engines import wire
from memory_engine.engines.base import EncodeJob
from memory_engine.errors import EngineError
from memory_engine.types import Conformance, Mode, Prompt, Sampling, Span

# Total variation distance of next-token probabilities that rounding explains, by dtype.
_TOLERANCE = {"torch.float32": 2e-3, "torch.float16": 3e-2, "torch.bfloat16": 0.1}
_TOLERANCE_FP8 = 0.1
_OWNER = "conformance-gate"
_PROBE_TOKENS = 61
_TOP = 20


class GateEngine(Protocol):
    """What the gate needs of an engine that is up but not yet trusted."""

    def request(
        self,
        token_ids: list[int],
        salt: str,
        params: dict[str, object] | None,
        sampling: Sampling,
        **extra: Any,
    ) -> AsyncGenerator[Any, None]: ...

    async def encode(self, job: EncodeJob) -> tuple[str, ...]: ...

    async def drop(self, owner: str, segment_ids: list[str] | None = None) -> int: ...


async def run_gate(
    engine: GateEngine, vocab_size: int, dtype: str, *, fp8: bool = False
) -> Conformance:
    """Run all checks; the verdict names the first that failed and its error.

    dtype: of the model. fp8: whether KV is stored in FP8, which rounds it once more.
    """
    token = random.Random(1).randrange(vocab_size // 2, vocab_size - 1)
    checks: dict[str, float] = {}
    try:
        reason, checks = await _probe(engine, token, ())
        if reason:
            return Conformance(False, reason, checks)
        reason, shifted = await _shift(engine, token)
        checks["shift"] = max(shifted.values(), default=float("inf"))
        if reason:
            return Conformance(False, f"after an injection {reason}", checks)
        checks["identity"] = await _identity(engine, vocab_size)
    except EngineError as error:
        return Conformance(False, str(error), checks)
    finally:
        await engine.drop(_OWNER)
    allowed = max(_TOLERANCE[dtype], _TOLERANCE_FP8 if fp8 else 0.0)
    if not checks["identity"] <= allowed:
        found = f"{checks['identity']:.3g}, allowed is {allowed}"
        return Conformance(
            False, f"injection changes the next token's probabilities: {found}", checks
        )
    return Conformance(True, "", checks)


async def _probe(
    engine: GateEngine, token: int, spans: tuple[Span, ...]
) -> tuple[str, dict[str, float]]:
    # Two tokens: the verdict of the first step arrives before the second one ends.
    sampling = Sampling(max_tokens=2)
    extra = {"ignore_eos": True, "min_tokens": 2}
    params = wire.probe_params(_OWNER, spans)
    account: dict[str, Any] = {}
    outputs = engine.request([token] * _PROBE_TOKENS, uuid.uuid4().hex, params, sampling, **extra)
    async for output in outputs:
        account = (output.kv_transfer_params or {}).get(wire.KEY, account)
    if account.get("error"):
        raise EngineError(str(account["error"]))
    _require_injected(account, spans)
    return str(account["reason"]), dict(account["errors"])


async def _shift(engine: GateEngine, token: int) -> tuple[str, dict[str, float]]:
    encoded = (Span("shift-a", 0, 19), Span("shift-b", 19, 38))
    served = (Span("shift-b", 0, 38), Span("shift-a", 38, 19))
    await engine.encode(EncodeJob(_OWNER, [token] * _PROBE_TOKENS, encoded))
    return await _probe(engine, token, served)


async def contrast(engine: GateEngine, vocab_size: int) -> float:
    """What the identity check finds when other tokens were encoded than are served.

    If it is near the tolerance, the injected part matters too little to this model for
    the check to see anything.
    """
    try:
        return await _identity(engine, vocab_size, encoded_seed=3)
    finally:
        await engine.drop(_OWNER)


async def _identity(engine: GateEngine, vocab_size: int, encoded_seed: int = 2) -> float:
    """Half the sum of differences between two next-token distributions, over the likeliest."""
    ids, encoded = (_words(seed, vocab_size) for seed in (2, encoded_seed))
    spans = (Span("identity-a", 0, 13), Span("identity-b", 13, 41), Span("identity-c", 54, 15))
    await engine.encode(EncodeJob(_OWNER, encoded, spans))
    exact = await _next_token(engine, Prompt(_OWNER, ids, spans), Mode.TEXT)
    injected = await _next_token(engine, Prompt(_OWNER, ids, spans), Mode.KV)
    tokens = exact.keys() | injected.keys()
    return sum(abs(exact.get(t, 0.0) - injected.get(t, 0.0)) for t in tokens) / 2


def _words(seed: int, vocab_size: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(vocab_size // 4, vocab_size - 1) for _ in range(77)]


async def _next_token(engine: GateEngine, prompt: Prompt, mode: Mode) -> dict[int, float]:
    params = wire.inject_params(prompt) if mode is Mode.KV else None
    found: dict[int, float] = {}
    salt, sampling = uuid.uuid4().hex, Sampling(max_tokens=1)
    async for output in engine.request(prompt.token_ids, salt, params, sampling, logprobs=_TOP):
        for step in output.outputs[0].logprobs or ():
            found = {token: math.exp(entry.logprob) for token, entry in step.items()}
        if mode is Mode.KV and output.finished:
            account = (output.kv_transfer_params or {}).get(wire.KEY, {})
            _require_injected(account, prompt.spans)
    return found


def _require_injected(account: dict[str, Any], spans: Sequence[Span]) -> None:
    if account.get("injected", 0) != sum(span.length for span in spans):
        raise EngineError(f"the gate's segments were not injected: {account}")
