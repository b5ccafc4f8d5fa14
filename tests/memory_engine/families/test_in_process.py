"""vLLM in this process gets along with what else the process has loaded."""

from collections.abc import Mapping

from memory_engine.families.in_process import _tolerant_scan


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
