"""Orders and reports between scheduler side and worker side."""

import numpy as np

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import WorkerReport
from tests.memory_engine.connector.scheduler_builder import PROMPT, encode, inject, opened


def test_the_worst_rank_decides_a_verdict() -> None:
    ours = WorkerReport({"p": Verdict("", {"rope_keys": 0.1})})
    theirs = WorkerReport({"p": Verdict("no", {"rope_keys": 0.3})})
    merged = ours.aggregate(theirs).verdicts["p"]
    assert merged == Verdict("no", {"rope_keys": 0.3})


def test_a_transfer_is_one_array_of_32_bit_integers() -> None:
    side = opened()
    encode(side, "a:0:3")
    inject(side, "a:0:3")
    side.admitted("r", side.lookup("r", PROMPT, 0))
    load = side.step_orders({"r": (3, 9, [0])}).load
    assert load is not None
    assert load.index.dtype == np.int32
    assert load.index.shape == (3, 3)
