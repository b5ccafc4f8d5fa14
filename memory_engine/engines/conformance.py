"""The conformance gate: a model may use KV injection only after it has passed.

probe      undoing RoPE gives position-free keys at every layer (`connector.probe`)
identity   a prompt whose front is encoded and injected in place gives the same log-probabilities
shift      segments of a repeated token, injected in another order and at other positions,
           give the log-probabilities of a prefill; a repeated token makes this exact
"""

import random
import uuid
from collections.abc import AsyncGenerator
from typing import Any, Protocol

from memory_engine.engines import wire
from memory_engine.engines.base import EncodeJob
from memory_engine.errors import EngineError
from memory_engine.types import Conformance, Mode, Prompt, Sampling, Span

# Largest difference of a log-probability that rounding explains, by dtype.
_TOLERANCE = {"torch.float32": 1e-2, "torch.float16": 0.15, "torch.bfloat16": 0.3}
_OWNER = "conformance-gate"


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


async def run_gate(engine: GateEngine, vocab_size: int, dtype: str) -> Conformance:
    """Run all checks; the verdict names the first that failed and its error."""
    reason, checks = await _probe(engine, vocab_size)
    if reason:
        return Conformance(False, reason, checks)
    try:
        checks["identity"] = await _identity(engine, vocab_size)
        checks["shift"] = await _shift(engine, vocab_size)
    except EngineError as error:
        return Conformance(False, str(error), checks)
    finally:
        await engine.drop(_OWNER)
    tolerance = _TOLERANCE[dtype]
    for name in ("identity", "shift"):
        if not checks[name] <= tolerance:
            found = f"log-probabilities differ by {checks[name]:.3g}, allowed is {tolerance}"
            return Conformance(False, f"the {name} check failed: {found}", checks)
    return Conformance(True, "", checks)


async def _probe(engine: GateEngine, vocab_size: int) -> tuple[str, dict[str, float]]:
    token = random.Random(1).randrange(vocab_size // 2, vocab_size - 1)
    # Two tokens: the verdict of the first step arrives before the second one ends.
    sampling = Sampling(max_tokens=2)
    extra = {"ignore_eos": True, "min_tokens": 2}
    account: dict[str, Any] = {}
    salt = uuid.uuid4().hex
    async for output in engine.request([token] * 61, salt, wire.probe_params(), sampling, **extra):
        account = (output.kv_transfer_params or {}).get(wire.KEY, account)
    return str(account["reason"]), dict(account["errors"])


async def _identity(engine: GateEngine, vocab_size: int) -> float:
    rng = random.Random(2)
    ids = [rng.randrange(vocab_size // 4, vocab_size - 1) for _ in range(77)]
    spans = (Span("identity-a", 0, 13), Span("identity-b", 13, 41), Span("identity-c", 54, 15))
    return await _compare(engine, EncodeJob(_OWNER, ids, spans), Prompt(_OWNER, ids, spans))


async def _shift(engine: GateEngine, vocab_size: int) -> float:
    rng = random.Random(3)
    token, tail = rng.randrange(vocab_size // 4, vocab_size - 1), rng.randrange(vocab_size // 4)
    encoded = (Span("shift-a", 0, 19), Span("shift-b", 19, 40))
    served = (Span("shift-b", 0, 40), Span("shift-a", 40, 19))
    ids = [token] * 59 + [tail] * 5
    return await _compare(engine, EncodeJob(_OWNER, ids, encoded), Prompt(_OWNER, ids, served))


async def _compare(engine: GateEngine, job: EncodeJob, prompt: Prompt) -> float:
    """The largest difference between the log-probabilities of a prefill and an injection."""
    await engine.encode(job)
    exact = await _logprobs(engine, prompt, Mode.TEXT)
    injected = await _logprobs(engine, prompt, Mode.KV)
    shared = exact.keys() & injected.keys()
    if len(shared) < len(exact) // 2:
        return float("inf")
    return max(abs(exact[token] - injected[token]) for token in shared)


async def _logprobs(engine: GateEngine, prompt: Prompt, mode: Mode) -> dict[int, float]:
    params = wire.inject_params(prompt) if mode is Mode.KV else None
    salt = uuid.uuid4().hex
    found: dict[int, float] = {}
    outputs = engine.request(prompt.token_ids, salt, params, Sampling(max_tokens=1), logprobs=8)
    async for output in outputs:
        for step in output.outputs[0].logprobs or ():
            found = {token: entry.logprob for token, entry in step.items()}
        account = (output.kv_transfer_params or {}).get(wire.KEY, {})
        if mode is Mode.KV and output.finished and account.get("injected") != account["planned"]:
            raise EngineError(f"the gate's segments were not injected: {account}")
    return found
