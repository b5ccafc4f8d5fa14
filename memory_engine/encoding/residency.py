"""Residency of one owner's KV: the tier of each fact, and how full the tiers are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tier:
    """Bytes of KV on the device or in host memory, of all owners: in use, and in all."""

    used: int
    capacity: int


@dataclass(frozen=True, slots=True)
class Residency:
    """The facts of one owner whose KV is at hand, and the bytes that each of them takes.

    `encoded` has them by fact id, `on_host` those that only host memory holds; the engine may
    move them between the tiers at any time. A fact in `waiting` is not encoded yet: it is sent
    as text. All are empty for a model that is not injected.
    """

    encoded: dict[str, int]
    on_host: frozenset[str]
    waiting: frozenset[str]
    device: Tier
    host: Tier
