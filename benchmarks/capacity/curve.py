"""A measured time as a function of tokens, interpolated and extended."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, slots=True)
class Curve:
    """Milliseconds at ascending numbers of tokens; at least one point."""

    tokens: tuple[int, ...]
    ms: tuple[float, ...]

    def at(self, tokens: float) -> float:
        """Milliseconds at `tokens`, linear between points; beyond, on the line of the last two."""
        if tokens > self.tokens[-1] and len(self.tokens) > 1:
            slope = (self.ms[-1] - self.ms[-2]) / (self.tokens[-1] - self.tokens[-2])
            return float(self.ms[-1] + slope * (tokens - self.tokens[-1]))
        return float(np.interp(tokens, self.tokens, self.ms))

    def covers(self, tokens: float) -> bool:
        """True if so many tokens lie between measured points."""
        return self.tokens[0] <= tokens <= self.tokens[-1]

    def grown(self, change: Callable[[int, float], float]) -> "Curve":
        """Derive a curve: each point's growth since the first becomes `change(tokens, growth)`."""
        first = self.ms[0]
        return replace(
            self,
            ms=tuple(
                first + change(n, ms - first) for n, ms in zip(self.tokens, self.ms, strict=True)
            ),
        )

    def shifted(self, ms: float) -> "Curve":
        """Derive a curve with `ms` more at every point."""
        return replace(self, ms=tuple(each + ms for each in self.ms))
