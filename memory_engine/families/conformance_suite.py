"""The conformance suite: the gate on every family of the table, one after the other."""

import json
import tempfile
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from memory_engine.engines.conformance import contrast
from memory_engine.errors import UnsupportedModelError
from memory_engine.families.family import VOCAB, Family
from memory_engine.families.in_process import InProcessEngine, clean_up

_MIB = 1 << 20


class Outcome(StrEnum):
    """Result of KV injection for a family."""

    SUPPORTED = "supported"
    REFUSED = "refused"  # the model is served as text
    NOT_SERVED = "not served"  # vLLM has no connector for such a model
    NOT_TESTED = "not tested"  # vLLM raised; the reason is its own


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of the suite for a family. `errors` are those of the conformance gate.

    `contrast` is what the gate's last check finds if other tokens are injected than are
    served: how much it would see.
    """

    family: str
    exercises: str
    outcome: Outcome
    reason: str = ""
    errors: dict[str, float] = field(default_factory=dict)
    contrast: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`; errors to three significant digits."""
        plain = asdict(self)
        plain["errors"] = {name: float(f"{value:.3g}") for name, value in self.errors.items()}
        if self.contrast is not None:
            plain["contrast"] = float(f"{self.contrast:.3g}")
        return plain


async def run_suite(families: Iterable[Family]) -> AsyncIterator[Finding]:
    """Try each family in this process. Takes the process: no other vLLM may run in it."""
    for family in families:
        yield await examine(family)


async def examine(family: Family) -> Finding:
    """Start a tiny model of the family with random weights and run the gate on it."""
    with tempfile.TemporaryDirectory(prefix="inferscale-family-") as folder:
        (Path(folder) / "config.json").write_text(json.dumps(family.config))
        engine = InProcessEngine(
            folder,
            arena_bytes=4 * _MIB,
            kv_cache_bytes=32 * _MIB,
            max_model_len=family.max_model_len,
            dtype=family.dtype,
            block_size=32,
            enforce_eager=True,
        )
        failure = await _failure(engine)
        if failure:
            clean_up()
            return Finding(family.name, family.exercises, *failure)
        try:
            return await _finding(family, engine)
        finally:
            await engine.aclose()


async def _failure(engine: InProcessEngine) -> tuple[Outcome, str] | None:
    """Start the engine; what stopped it, in one line, if anything did."""
    try:
        await engine.start()
    except UnsupportedModelError as error:
        return Outcome.NOT_SERVED, str(error)
    except Exception as error:
        # Its traceback holds the engine, and must be gone when the caller cleans up.
        return Outcome.NOT_TESTED, (str(error).strip() or repr(error)).splitlines()[0]
    return None


async def _finding(family: Family, engine: InProcessEngine) -> Finding:
    verdict = engine.conformance
    outcome = Outcome.SUPPORTED if verdict.supported else Outcome.REFUSED
    seen = await contrast(engine, VOCAB) if verdict.supported else None
    return Finding(
        family.name, family.exercises, outcome, verdict.reason, dict(verdict.checks), seen
    )
