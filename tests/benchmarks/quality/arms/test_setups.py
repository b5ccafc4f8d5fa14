"""One thing is varied at a time."""

import pytest

from app.settings import Settings
from benchmarks.quality.arms.setups import Setup, varied
from memory_engine.errors import SettingsError


def test_the_default_setup_is_what_the_product_does() -> None:
    setup, settings = Setup(k=20), Settings()
    product = (setup.window, setup.tail, setup.store, setup.order)
    assert product == (settings.window, settings.tail, settings.store_dtype, "time")


def test_each_value_is_tried_with_the_first_of_the_others() -> None:
    setups = varied([20, 50], ["facts:8", "none"], ["time"], [3, 0, 5], ["auto", "fp8"])
    assert setups[:2] == [Setup(20), Setup(50)]
    assert len(setups) == 2 * (1 + 1 + 2 + 1)
    assert Setup(50, window="none") in setups
    assert Setup(20, tail=5) in setups
    assert Setup(50, store="fp8") in setups
    assert Setup(20, window="none", tail=0) not in setups


@pytest.mark.parametrize(
    "wrong",
    [
        ([0], ["none"], ["time"], [3], ["auto"]),
        ([20], ["facts"], ["time"], [3], ["auto"]),
        ([20], ["none"], ["size"], [3], ["auto"]),
        ([20], ["none"], ["time"], [-1], ["auto"]),
        ([20], ["none"], ["time"], [3], ["fp4"]),
        ([], ["none"], ["time"], [3], ["auto"]),
        ([20], ["none"], [], [3], ["auto"]),
    ],
)
def test_what_cannot_work_is_the_users_error(
    wrong: tuple[list[int], list[str], list[str], list[int], list[str]],
) -> None:
    with pytest.raises(SettingsError):
        varied(*wrong)
