"""vLLM as the planner sees it, played over integers: a scheduler with blocks, and a worker.

The worker lags behind the scheduler by as many steps as it is told, as with asynchronous
scheduling: it executes every plan in order, on dictionaries for pages, arena and host
memory, and finds what a request's pages hold wrong as soon as it is.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import StepOrders, WorkerReport
from memory_engine.connector.protocol.params import KEY
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Direction, Tiers
from tests.memory_engine.connector.request_builder import raw_request

BLOCK, BLOCKS, DEVICE, HOST = 4, 14, 23, 17
# The KV of one token, told by the request and the position where it was computed.
Kv = tuple[str, int]
Draw = Callable[[int, int], int]


@dataclass
class FakeRequest:
    """One request. `spans` are (id, start, length); `first` is (local, external) at first."""

    name: str
    op: str
    owner: str
    spans: list[tuple[str, int, int]]
    tokens: int
    computed: int = 0
    blocks: list[int] = field(default_factory=list)
    first: tuple[int, int] | None = None
    # What its pages hold where it was injected; elsewhere its own tokens.
    injected: dict[int, Kv] = field(default_factory=dict)

    def page(self, position: int) -> int:
        return self.blocks[position // BLOCK] * BLOCK + position % BLOCK


@dataclass
class Work:
    """One planned step.

    `cached` pages are found as an equal request has left them, `computed` ones are filled
    by the step, and `expected` is what the pages of its requests hold after it.
    """

    plan: StepOrders
    cached: dict[int, Kv]
    computed: dict[int, Kv]
    expected: dict[int, Kv]


class FakeVllm:
    """Runs requests against a `SchedulerSide` whose tiers it can look into."""

    def __init__(self) -> None:
        self.device, self.host = Arena(DEVICE), Arena(HOST)
        self.side = SchedulerSide(Tiers(self.device, self.host), BLOCK)
        self.side.report(WorkerReport({"probe": Verdict()}))
        self.requests: dict[str, FakeRequest] = {}
        self.waiting: deque[FakeRequest] = deque()
        self.running: list[FakeRequest] = []
        self.free = list(range(BLOCKS))
        self.in_flight: deque[Work] = deque()
        self.memories: dict[str, dict[int, Kv]] = {"pages": {}, "device": {}, "host": {}}
        # By owner and id: the request that computed the segment, and its first position there.
        self.source: dict[tuple[str, str], Kv] = {}
        self.saving: set[str] = set()
        self.cached: dict[int, Kv] = {}

    def arrive(self, request: FakeRequest) -> None:
        text = " ".join(f"{i}:{start}:{start + length}" for i, start, length in request.spans)
        raw = raw_request(request.op, request.owner, segments=text)
        self.side.arrived(request.name, raw, request.tokens)
        self.requests[request.name] = request
        self.waiting.append(request)

    def done(self, request: FakeRequest) -> bool:
        """Whether all spans of the request are computed."""
        _, start, length = request.spans[-1]
        return request.computed >= start + length

    def control(self, op: str, owner: str, segments: str | None = None) -> int:
        """A request that acts when it arrives, and is aborted then."""
        self.side.arrived("control", raw_request(op, owner, segments=segments), 1)
        return int(self._outcome("control")["count"])

    def finish(self, request: FakeRequest) -> dict[str, Any]:
        """The request ended or was aborted, at any point; its outcome."""
        if request in self.running:
            self.running.remove(request)
        else:
            self.waiting.remove(request)
        self._free(request)
        return self._outcome(request.name)

    def preempt(self) -> None:
        victim = self.running.pop()
        self._free(victim)
        self.waiting.appendleft(victim)

    def step(self, draw: Draw) -> None:
        """Schedule and plan one step; `draw(low, high)` decides what vLLM's queues would."""
        scheduled: dict[str, int] = {}
        preempted = False
        for request in list(self.running):
            if request not in self.running:
                continue
            count = draw(1, min(6, request.tokens - request.computed))
            while request in self.running and not self._grow(request, count):
                preempted = True
                scheduled.pop(self.running[-1].name, None)
                self.preempt()
            if request in self.running:
                scheduled[request.name] = count
        while not preempted and self.waiting and draw(0, 2):
            count = self._admit(self.waiting[0], draw)
            if not count:
                break
            request = self.waiting.popleft()
            self.running.append(request)
            scheduled[request.name] = count
        self._plan(scheduled)

    def work(self) -> None:
        """The worker executes its oldest plan, in the order of the worker's side."""
        work = self.in_flight.popleft()
        plan, pages, device = work.plan, self.memories["pages"], self.memories["device"]
        pages |= work.cached
        for move in plan.moves:
            here, there = move.device.tolist(), move.host.tolist()
            if move.direction is Direction.PROMOTE:
                self._copy("host", there, "device", here)
            else:
                self._copy("device", here, "host", there)
        if plan.load is not None:
            self._copy("device", plan.load.arena.tolist(), "pages", plan.load.pages.tolist())
        pages |= work.computed
        held = {page: pages.get(page) for page in work.expected}
        assert held == work.expected
        if plan.save is not None:
            for slot, page in zip(plan.save.arena.tolist(), plan.save.pages.tolist(), strict=True):
                device[slot] = pages[page]

    def _outcome(self, name: str) -> dict[str, Any]:
        answer = self.side.finished(name)
        assert answer is not None
        outcome: dict[str, Any] = answer[KEY]
        return outcome

    def _free(self, request: FakeRequest) -> None:
        self.free += request.blocks
        request.blocks, request.computed, request.injected = [], 0, {}

    def _grow(self, request: FakeRequest, count: int) -> bool:
        """Blocks for `count` more tokens, or none."""
        missing = -(-(request.computed + count) // BLOCK) - len(request.blocks)
        if missing > len(self.free):
            return False
        for _ in range(missing):
            request.blocks.append(self.free.pop())
        return True

    def _admit(self, request: FakeRequest, draw: Draw) -> int:
        """Look a waiting request up; how many tokens it is given, 0 if it has to wait."""
        local = draw(0, (request.tokens - 1) // BLOCK) * BLOCK * draw(0, 1)
        external = self.side.lookup(request.name, request.tokens, local)
        assert external >= 0
        assert external == 0 or local + external < request.tokens
        request.computed = local + external
        count = draw(1, min(6, request.tokens - request.computed))
        if draw(0, 4) == 0 or not self._grow(request, count):
            request.computed = 0
            return 0
        self.side.admitted(request.name, external)
        request.first = request.first or (local, external)
        for name, start, length in request.spans:
            for position in range(max(start, local), min(start + length, local + external)):
                # Another owner's segment, or one that was never saved, is no key here.
                source, first = self.source[request.owner, name]
                request.injected[position] = (source, first + position - start)
        # Blocks of a local hit are those that an equal request has filled.
        self.cached |= {request.page(at): (request.name, at) for at in range(local)}
        return count

    def _plan(self, scheduled: dict[str, int]) -> None:
        steps: dict[str, tuple[int, int, list[int]]] = {}
        computed: dict[int, Kv] = {}
        expected: dict[int, Kv] = {}
        for name, count in scheduled.items():
            request = self.requests[name]
            if self.side.needs_step(name):
                steps[name] = (request.computed, count, list(request.blocks))
            new = range(request.computed, request.computed + count)
            computed |= {request.page(at): (name, at) for at in new}
            request.computed += count
            for at in range(request.computed):
                expected[request.page(at)] = request.injected.get(at, (name, at))
        plan = self.side.step_orders(steps)
        self.saving = set()
        for name, (_, _, blocks) in steps.items():
            self._note_saved(plan, self.requests[name], set(blocks))
        for name in scheduled:
            request = self.requests[name]
            if request.computed == request.tokens:
                request.tokens += 1
        self.in_flight.append(Work(plan, self.cached, computed, expected))
        self.cached = {}

    def _note_saved(self, plan: StepOrders, request: FakeRequest, blocks: set[int]) -> None:
        if plan.save is None or request.op != "encode":
            return
        mine = {
            position
            for position, page in zip(
                plan.save.positions.tolist(), plan.save.pages.tolist(), strict=True
            )
            if page // BLOCK in blocks
        }
        for name, start, length in request.spans:
            if start in mine:
                assert mine >= set(range(start, start + length))
                self.source[request.owner, name] = (request.name, start)
                self.saving.add(name)

    def _copy(self, source: str, here: list[int], target: str, there: list[int]) -> None:
        for one, two in zip(here, there, strict=True):
            self.memories[target][two] = self.memories[source][one]
