"""A scheduler side whose probe has passed, with requests to encode and to inject."""

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import WorkerReport
from memory_engine.connector.protocol.params import KEY
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers
from tests.memory_engine.connector.request_builder import raw_request

PROMPT = 20


def opened(capacity: int = 40) -> SchedulerSide:
    side = SchedulerSide(Tiers(Arena(capacity)), block_size=4)
    side.report(WorkerReport({"probe": Verdict()}))
    return side


def encode(side: SchedulerSide, segments: str, owner: str = "anna", tokens: int = PROMPT) -> None:
    raw = raw_request("encode", owner, segments=segments)
    side.arrived("encode", raw, tokens)
    side.step_orders({"encode": (0, tokens, list(range(5)))})
    side.finished("encode")
    # The step after it: what was saved is there, and no longer pinned.
    side.step_orders({})


def inject(side: SchedulerSide, segments: str, request: str = "r", owner: str = "anna") -> None:
    side.arrived(request, raw_request("inject", owner, segments=segments), PROMPT)


def outcome(side: SchedulerSide, request: str) -> dict[str, object]:
    found = side.finished(request)
    assert found is not None
    result: dict[str, object] = found[KEY]
    return result
