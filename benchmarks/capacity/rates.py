"""Rates of one engine, read from a report of `inferscale bench`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.models.dummy_model import SHAPES
from benchmarks.capacity.curve import Curve
from benchmarks.capacity.model_shape import ModelShape, shape_of
from memory_engine.errors import SettingsError

Report = dict[str, Any]

# Made from docs/benchmarks/h200-llama-8b-full.json by `python -m scripts.figures.ship_rates`.
SHIPPED = Path(__file__).parent.parent / "data" / "rates.json"
ARMS = {"text": "text_ttft_ms", "kv": "kv_ttft_ms", "host": "host_ttft_ms"}


@dataclass(frozen=True, slots=True)
class EngineTime:
    """Milliseconds that a request keeps an engine under load from others.

    first: prompt and first token. each: every further token of the reply. Their sum over a
    request is one over the requests a second that were measured.
    """

    first: float
    each: float


@dataclass(frozen=True, slots=True)
class MeasuredLoad:
    """Engine times measured with `concurrency` requests in flight.

    fact_tokens, prompt_tokens: of a request, in its facts and in all.
    """

    concurrency: int
    fact_tokens: int
    prompt_tokens: int
    text: EngineTime
    kv: EngineTime


@dataclass(frozen=True, slots=True)
class EngineRates:
    """Measured rates of one engine; times are medians in ms over the tokens of a prompt's facts.

    shape: of the model, None where it is not known; such rates hold for that model alone.
    estimate: why these are not the measured ones but scaled, or "". copy_gb_per_s: how fast
    the device copies, reads and writes counted. encode: facts a second of `fact_tokens`,
    and beside a chat that does not notice. host: KV from host memory.
    """

    hardware: str
    model: str
    shape: ModelShape | None
    tensor_parallel: int
    gpu_gib: float
    ram_gib: float
    estimate: str
    text: Curve
    kv: Curve
    host: Curve | None
    load: MeasuredLoad | None
    copy_gb_per_s: float | None
    fact_tokens: int
    encode: float
    encode_beside_chat: float

    def ttft(self, arm: str) -> Curve:
        """The curve of `text`, `kv` or `host`; KV where host memory was not measured."""
        return {"text": self.text, "kv": self.kv, "host": self.host or self.kv}[arm]

    def busy_ms(self, arm: str, tokens: float, reply_tokens: float) -> float:
        """Milliseconds that one request keeps the engine, with so many tokens of facts.

        Under load: a batch shares its steps, so this is less than the request takes. Moving
        KV from host memory is not shared. Without a measured load a request counts as long
        as it takes to its first token, alone.
        """
        curve = self.ttft(arm)
        if self.load is None:
            return curve.at(tokens)
        at = self.load.fact_tokens
        if arm == "text":
            start = self.text.ms[0]
            grown = (self.text.at(tokens) - start) / (self.text.at(at) - start)
            # Without facts a request takes what one with KV takes.
            least = self.busy_ms("kv", 0, 1)
            first = least + max(0.0, self.load.text.first - least) * grown
            return first + self.load.text.each * (reply_tokens - 1)
        first = self.load.kv.first * self.kv.at(tokens) / self.kv.at(at)
        moving = max(0.0, curve.at(tokens) - self.kv.at(tokens))
        return first + moving + self.load.kv.each * (reply_tokens - 1)


def shipped_rates() -> EngineRates:
    """Read the rates that come with the program."""
    return read_rates(SHIPPED)


def read_rates(path: Path) -> EngineRates:
    """Read the rates in a report of `inferscale bench --json`. Raises SettingsError."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return rates_of(report)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise SettingsError(f"--report {path} cannot be read: {error}") from None
    except (KeyError, TypeError, IndexError) as error:
        raise SettingsError(
            f"--report {path} is no report of `inferscale bench --json`: {error} is missing."
        ) from None


def rates_of(report: Report) -> EngineRates:
    """Extract the rates of a report.

    Raises KeyError, TypeError or IndexError if a part is missing.
    """
    machine, rows = report["hardware"], sorted(report["rows"], key=lambda row: int(row["k"]))
    length = int(report["fact_tokens"])
    tokens = tuple(int(row["k"]) * length for row in rows)
    encoding = report.get("encoding")
    encode = 1000 / report["encode"]["ms_per_fact"]
    if encoding:
        encode = max(float(rate["facts_per_s"]) for rate in encoding["rates"])
    chat, bandwidth = report.get("chat"), report.get("bandwidth")
    return EngineRates(
        hardware=machine["gpu"] or machine["cpu"],
        model=str(report["model"]),
        shape=shape_of(report["model"]) if report["model"] in SHAPES else None,
        tensor_parallel=int(report["tensor_parallel"]),
        gpu_gib=float(machine["gpu_gib"]),
        ram_gib=float(machine["ram_gib"]),
        estimate="",
        text=_curve(rows, tokens, "text"),
        kv=_curve(rows, tokens, "kv"),
        host=_curve(rows, tokens, "host") if rows[0]["host_ttft_ms"] else None,
        load=_load(report.get("throughput") or [], length),
        copy_gb_per_s=float(bandwidth["copy_gb_per_s"]) if bandwidth else None,
        fact_tokens=length,
        encode=encode,
        encode_beside_chat=float(chat["facts_per_s"]) if chat else encode,
    )


def _curve(rows: list[Report], tokens: tuple[int, ...], arm: str) -> Curve:
    return Curve(tokens, tuple(float(row[ARMS[arm]]["median"]) for row in rows))


def _load(rows: list[Report], fact_tokens: int) -> MeasuredLoad | None:
    """Take the most requests in flight, and the shortest and longest replies there."""
    if not rows:
        return None
    most = max(row["concurrency"] for row in rows)
    by_length = sorted(
        (row for row in rows if row["concurrency"] == most),
        key=lambda row: int(row["output_tokens"]),
    )
    short, long = by_length[0], by_length[-1]
    return MeasuredLoad(
        concurrency=most,
        fact_tokens=int(short["k"]) * fact_tokens,
        prompt_tokens=int(short["prompt_tokens"]),
        text=_busy(short, long, "text"),
        kv=_busy(short, long, "kv"),
    )


def _busy(short: Report, long: Report, arm: str) -> EngineTime:
    a, b = (1000 / row[arm]["requests_per_s"] for row in (short, long))
    more = long["output_tokens"] - short["output_tokens"]
    each = max(0.0, (b - a) / more) if more else 0.0
    return EngineTime(a - each * (short["output_tokens"] - 1), each)
