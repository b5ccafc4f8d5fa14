"""Message log of a simulation, and the report made of it."""

from array import array
from typing import Any

import numpy as np

from app.figures import distribution
from benchmarks.capacity.simulation.lru_tiers import SimulatedTier
from benchmarks.capacity.simulation.scenario import Scenario

Report = dict[str, Any]

_BIN = 60.0  # seconds
_DURING = 300.0  # seconds after the loss that are told apart
_DEVIATIONS = 2.0  # below the mean before the loss; a rate no lower is back


class MessageLog:
    """Log of messages in the order in which their replies ended; times in seconds.

    retried: messages whose engine was lost before their first token. broken: after it. moved:
    users whose engine was lost.
    """

    def __init__(self) -> None:
        self._asked, self._waited, self._first = array("d"), array("d"), array("d")
        self._user, self._tier = array("l"), array("b")
        self.retried = self.broken = 0
        self.moved: set[int] = set()

    def add(
        self, user: int, asked: float, waited: float, first: float, tier: SimulatedTier
    ) -> None:
        """Log a reply: when it was asked for, its wait in the queue, its time to first token."""
        self._user.append(user)
        self._asked.append(asked)
        self._waited.append(waited)
        self._first.append(first)
        self._tier.append(tier)

    def report(self, scenario: Scenario) -> Report:
        """Report figures before the loss, in the minutes behind it, at the end and by minute."""
        end, lost_at = scenario.seconds, scenario.lost_at
        spans = {"all": (scenario.settled_at, end)}
        if lost_at is not None:
            after = min(end, lost_at + _DURING)
            spans = {
                "before": (scenario.settled_at, lost_at),
                "during": (lost_at, after),
                "after": (after, end),
            }
        minutes = [self._figures(start, start + _BIN) for start in np.arange(0, end, _BIN).tolist()]
        return {
            "messages": len(self._asked),
            "spans": {name: self._figures(*span) for name, span in spans.items()},
            "moved": None if lost_at is None else self._moved(scenario, lost_at),
            "retried": self.retried,
            "broken": self.broken,
            "minutes": [each for each in minutes if each["messages"]],
        }

    def _figures(self, start: float, end: float) -> Report:
        asked = np.frombuffer(self._asked)
        chosen = (asked >= start) & (asked < end)
        tiers = np.bincount(
            np.frombuffer(self._tier, np.int8)[chosen], minlength=len(SimulatedTier)
        )
        total = int(tiers.sum())
        first, waited = (
            (np.frombuffer(each)[chosen] * 1000).tolist() for each in (self._first, self._waited)
        )
        return {
            "from_s": start,
            "to_s": end,
            "messages": total,
            "found": {
                t.name.lower(): round(int(tiers[t]) / max(total, 1), 4) for t in SimulatedTier
            },
            "ttft_ms": distribution(first) if first else None,
            "wait_ms": distribution(waited) if waited else None,
        }

    def _moved(self, scenario: Scenario, lost_at: float) -> Report:
        """Figures of the lost engine's users: share of messages with KV, and when it is back."""
        theirs = np.isin(np.frombuffer(self._user, np.int64), list(self.moved))
        asked = np.frombuffer(self._asked)[theirs]
        found = np.frombuffer(self._tier, np.int8)[theirs] != SimulatedTier.NONE
        edges = np.arange(0, scenario.seconds + _BIN, _BIN)
        total, _ = np.histogram(asked, edges)
        held, _ = np.histogram(asked[found], edges)
        share = held / np.maximum(total, 1)
        before = share[int(-(-scenario.settled_at // _BIN)) : int(lost_at // _BIN)]
        after = share[int(lost_at // _BIN) :]
        if not before.size or not total.all():
            return {"users": len(self.moved), "before": None, "lowest": None, "back_after_s": None}
        enough = before.mean() - _DEVIATIONS * before.std()
        return {
            "users": len(self.moved),
            "before": round(float(before.mean()), 4),
            "lowest": round(float(after.min()), 4),
            "back_after_s": float(np.argmax(after >= enough) * _BIN)
            if (after >= enough).any()
            else None,
        }
