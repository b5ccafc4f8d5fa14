"""Outcomes of streamed requests, kept until their callers ask for them."""

from collections import OrderedDict

from memory_engine.connector.protocol.outcome import Outcome

_MOST = 4096


class KeptOutcomes:
    """The last outcomes, by owner and ticket.

    vLLM's streamed responses have no place for an outcome, so a streaming caller chooses a
    ticket and asks for the outcome under it once the stream has ended.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], Outcome] = OrderedDict()

    def keep(self, owner: str, ticket: str, outcome: Outcome) -> None:
        """Keep an outcome, and forget the oldest if there are too many."""
        self._kept[owner, ticket] = outcome
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    def take(self, owner: str, ticket: str) -> Outcome | None:
        """Remove and return the outcome; None if there is none."""
        return self._kept.pop((owner, ticket), None)
