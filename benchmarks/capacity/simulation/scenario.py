"""Scenario of a simulation: duration, mode, and the loss of an engine."""

from dataclasses import dataclass
from typing import Literal

from memory_engine.errors import SettingsError

SimulatedMode = Literal["kv", "text"]

HOUR = 3600.0  # seconds


@dataclass(frozen=True, slots=True)
class Scenario:
    """Scenario to simulate: `hours`, after `warm_hours` that only fill the caches.

    mode: `text` prefills all facts of all requests. lose: whether an engine is lost at half
    time, for good. seed: of all that is random.
    """

    hours: float = 2.0
    warm_hours: float = 24.0
    mode: SimulatedMode = "kv"
    lose: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.hours <= 0 or self.warm_hours < 0:
            raise SettingsError("--hours must be more than 0, and --warm-hours 0 or more.")
        if self.mode not in ("kv", "text"):
            raise SettingsError("--mode must be kv or text.")

    @property
    def seconds(self) -> float:
        """Duration of the simulation in seconds."""
        return self.hours * HOUR

    @property
    def lost_at(self) -> float | None:
        """Time of the loss in seconds from the start; None without one."""
        return self.seconds / 2 if self.lose else None

    @property
    def settled_at(self) -> float:
        """Time from which figures count: conversations have to begin before many are going on."""
        return self.seconds / 8
