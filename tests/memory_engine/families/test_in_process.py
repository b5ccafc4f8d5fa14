"""vLLM in this process gets along with what else the process has loaded."""

from collections.abc import Mapping
from typing import Any

import pytest

from memory_engine.families.in_process import _kernels_replaced_once, _tolerant_scan


class Odd:
    """Answers to every name, like llvmlite's functions: its `__dict__` is no dictionary."""

    __slots__ = ()

    def __getattr__(self, name: str) -> str:
        return name


def test_vllm_gets_over_odd_objects_when_it_looks_through_all_modules() -> None:
    from vllm.triton_utils import dispatcher

    odd = Odd()
    assert not isinstance(vars(odd), Mapping)
    with _tolerant_scan():
        assert dispatcher.vars(odd) == {}
        assert dispatcher.vars(dispatcher)["__name__"] == dispatcher.__name__
    assert not hasattr(dispatcher, "vars")


@pytest.mark.parametrize(("before", "calls"), [({}, 1), ({"a.kernel": ("old", "new")}, 0)])
def test_kernels_are_replaced_at_the_first_start_of_the_process_only(
    monkeypatch: pytest.MonkeyPatch, before: dict[str, Any], calls: int
) -> None:
    from vllm.triton_utils import dispatcher

    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(dispatcher, "_registry", before)
    monkeypatch.setattr(dispatcher, "register_kernels", seen.append)
    with _kernels_replaced_once():
        dispatcher.register_kernels({"a.kernel": print})
    assert len(seen) == calls
    dispatcher.register_kernels({})
    assert len(seen) == calls + 1
