"""Scaling rule: rates of another model shape or number of GPUs, from measured ones.

    pass over the weights   bytes of weights a GPU, at the measured copy bandwidth
    rest of the first token the host's work: the same for every shape
    prefill of facts        floating-point operations a GPU
    injection, host memory  bytes of KV a GPU
    a token of a reply      bytes a GPU of weights and of the KV of all requests in flight
    encoding                operations of prefilling a fact

Communication between GPUs is left out, and every GPU is taken to be as fast as the measured
one. docs/scale.md holds the rule against what was measured on two GPUs.
"""

from dataclasses import replace

from benchmarks.capacity.curve import Curve
from benchmarks.capacity.model_shape import ModelShape
from benchmarks.capacity.rates import EngineRates, EngineTime, MeasuredLoad
from memory_engine.errors import SettingsError


def rates_for(rates: EngineRates, shape: ModelShape, tensor_parallel: int) -> EngineRates:
    """Return `rates` if they were measured with this model, else scaled, marked as an estimate.

    Raises SettingsError if the measured model's shape is not known.
    """
    if (shape.name, tensor_parallel) == (rates.model, rates.tensor_parallel):
        return rates
    if rates.shape is None or rates.text.tokens[0] != 0:
        raise SettingsError(
            f"The rates are of {rates.model} on {rates.tensor_parallel} GPU(s), measured without a "
            f"known shape or without k=0, and cannot be scaled to {shape.name} on "
            f"{tensor_parallel}: give a --report of that model, or of a dummy one with k=0."
        )
    return _Scaling(rates, rates.shape, shape, rates.tensor_parallel / tensor_parallel).scaled(
        tensor_parallel
    )


class _Scaling:
    def __init__(
        self, rates: EngineRates, measured: ModelShape, wanted: ModelShape, ranks: float
    ) -> None:
        self._rates, self._measured, self._wanted, self._ranks = rates, measured, wanted, ranks
        self._kv_bytes = wanted.token_bytes() / measured.token_bytes() * ranks

    def scaled(self, tensor_parallel: int) -> EngineRates:
        rates = self._rates
        text = rates.text.grown(lambda tokens, ms: ms * self._operations(tokens))
        return replace(
            rates,
            model=self._wanted.name,
            shape=self._wanted,
            tensor_parallel=tensor_parallel,
            estimate=f"scaled from {rates.model} on {rates.tensor_parallel} GPU(s)",
            text=text.shifted(self._heavier()),
            kv=self._injected(rates.kv),
            host=self._injected(rates.host) if rates.host else None,
            load=self._load(rates.load) if rates.load else None,
            encode=rates.encode / self._operations(rates.fact_tokens),
            encode_beside_chat=rates.encode_beside_chat / self._operations(rates.fact_tokens),
        )

    def _operations(self, tokens: float) -> float:
        wanted = self._wanted.prefill_operations(max(tokens, 1))
        return wanted / self._measured.prefill_operations(max(tokens, 1)) * self._ranks

    def _injected(self, curve: Curve) -> Curve:
        return curve.grown(lambda _, ms: ms * self._kv_bytes).shifted(self._heavier())

    def _heavier(self) -> float:
        """Milliseconds that a pass over the weights takes longer than in the measured model."""
        ratio = self._wanted.weight_bytes / self._measured.weight_bytes * self._ranks
        return (ratio - 1) * self._weights_ms()

    def _weights_ms(self) -> float:
        """Milliseconds of a pass over the weights, within the first token without facts.

        All of that time where no bandwidth was measured.
        """
        start, rates = self._rates.text.ms[0], self._rates
        if rates.copy_gb_per_s is None:
            return start
        a_gpu = self._measured.weight_bytes / rates.tensor_parallel
        return min(start, a_gpu / (rates.copy_gb_per_s * 1e9) * 1e3)

    def _load(self, load: MeasuredLoad) -> MeasuredLoad:
        """Scale the load; the pass over the weights is shared by all requests of a step."""
        heavier = self._heavier() / load.concurrency
        growth = self._rates.kv.at(load.fact_tokens)
        injected = self._injected(self._rates.kv).at(load.fact_tokens) / growth
        text = load.text.first * self._operations(load.prompt_tokens) + heavier
        each = self._step_bytes(self._wanted, load) / self._step_bytes(self._measured, load)
        return replace(
            load,
            text=EngineTime(text, load.text.each * each * self._ranks),
            kv=EngineTime(load.kv.first * injected, load.kv.each * each * self._ranks),
        )

    def _step_bytes(self, shape: ModelShape, load: MeasuredLoad) -> float:
        """Bytes that a decoding step of all requests in flight reads."""
        return shape.weight_bytes + load.concurrency * load.prompt_tokens * shape.token_bytes()
