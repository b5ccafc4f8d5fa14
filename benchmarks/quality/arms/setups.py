"""Setups: the ways to encode and to serve facts that an evaluation compares."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from app.settings_checks import StoreDtype
from memory_engine.encoding.windows import Window
from memory_engine.errors import SettingsError

Order = Literal["time", "relevance"]
ORDERS: tuple[Order, ...] = get_args(Order)
STORES: tuple[StoreDtype, ...] = get_args(StoreDtype)


@dataclass(frozen=True, slots=True)
class Setup:
    """One way to encode and to serve facts.

    k: facts of a prompt. window: of Context-Window Encoding. order: of the facts in the
    prompt, oldest first or most relevant first. tail: facts at the end as text, at most.
    store: how KV is stored, which takes an engine of its own.
    """

    k: int
    window: str = "facts:8"
    order: Order = "time"
    tail: int = 3
    store: StoreDtype = "auto"

    def __post_init__(self) -> None:
        Window.parse(self.window)
        if self.k < 1 or self.tail < 0:
            raise SettingsError("--k must be 1 or more, and --tails 0 or more.")
        if self.order not in ORDERS:
            raise SettingsError(f"--orders {self.order} cannot work: give {' or '.join(ORDERS)}.")

        if self.store not in STORES:
            raise SettingsError(f"--stores {self.store} cannot work: give {' or '.join(STORES)}.")


def varied(
    ks: Sequence[int],
    windows: Sequence[str],
    orders: Sequence[str],
    tails: Sequence[int],
    stores: Sequence[str],
) -> list[Setup]:
    """List for every k the first of each list, and every other value with the first of the rest.

    One thing is varied at a time, so that a table has a row for each value and not for each
    combination. Raises SettingsError for what cannot work.
    """
    given = {"window": windows, "order": orders, "tail": tails, "store": stores}
    if not (ks and all(given.values())):
        raise SettingsError("--k, --windows, --orders, --tails and --stores need a value each.")
    base: dict[str, Any] = {name: values[0] for name, values in given.items()}
    setups = [Setup(k, **base) for k in ks]
    for k in ks:
        for name, values in given.items():
            setups += [Setup(k, **(base | {name: value})) for value in values]
    return list(dict.fromkeys(setups))
