"""Accounts of streamed requests, kept until their callers ask for them."""

from collections import OrderedDict
from typing import Any

_MOST = 4096


class KeptOutcomes:
    """The last accounts, by owner and ticket.

    vLLM's streamed responses have no place for an account, so a streaming caller chooses a
    ticket and asks for what is kept under it once the stream has ended.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()

    def keep(self, owner: str, ticket: str, account: dict[str, Any]) -> None:
        """Keep an account, and forget the oldest if there are too many."""
        self._kept[owner, ticket] = account
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    def take(self, owner: str, ticket: str) -> dict[str, Any] | None:
        """The account, which is not kept any longer."""
        return self._kept.pop((owner, ticket), None)
