"""Snapshots: written whole, read back by the right model and owner, gone when forgotten."""

from pathlib import Path

import pytest
import torch

from memory_engine.connector.gpu.probe import Verdict
from memory_engine.connector.metadata import StepOrders, WorkerReport
from memory_engine.connector.protocol.params import KEY
from memory_engine.connector.scheduler import SchedulerSide
from memory_engine.connector.segments import snapshots
from memory_engine.connector.segments.archive import ArchiveSettings
from memory_engine.connector.segments.arena import Arena
from memory_engine.connector.segments.tiers import Tiers
from memory_engine.connector.worker import TierSizes, WorkerSide
from tests.memory_engine.connector.request_builder import raw_request

TOKENS = 20


class Pair:
    """A scheduler side and a worker side with stores of one number a token; no engine."""

    def __init__(self, folder: Path, host: int = 0, rank: tuple[int, int] = (0, 1)) -> None:
        tiers = Tiers(Arena(12), Arena(host) if host else None)
        settings = ArchiveSettings(str(folder), 1 << 20, rank[1])
        self.side = SchedulerSide(tiers, block_size=4, archive=settings)
        self.side.report(WorkerReport({"probe": Verdict()}))
        self.worker = WorkerSide(TierSizes(12, host), rank=rank)
        self.worker._device = _Rows(12)  # type: ignore[assignment]
        self.worker._host = _Rows(host)  # type: ignore[assignment]

    def step(self, requests: dict[str, tuple[int, int, list[int]]] | None = None) -> StepOrders:
        plan = self.side.step_orders(requests or {})
        for order in plan.restores:
            self.worker._archived[order.request_id] = self.worker._restore(order)
        if plan.save is not None:
            arena, positions = plan.save.arena, torch.from_numpy(plan.save.positions)
            self.worker._device.data[arena] = positions[:, None] + 100
        self.worker.save(StepOrders(snapshots=plan.snapshots))
        report = self.worker.report(StepOrders())
        if report is not None:
            self.side.report(report)
        return plan

    def encode(self, segments: str, owner: str = "anna") -> None:
        self.side.arrived("e", raw_request("encode", owner, segments=segments), TOKENS)
        self.step({"e": (0, TOKENS, list(range(5)))})
        self.side.finished("e")
        self.step()

    def ask(self, op: str, owner: str = "anna", model: str = "model") -> dict[str, object]:
        self.side.arrived(op, raw_request(op, owner, fingerprint=model), 1)
        self.step()
        found = self.side.finished(op)
        assert found is not None
        outcome: dict[str, object] = found[KEY]
        return outcome

    def injected(self, segments: str, owner: str = "anna") -> list[int]:
        """The values that an injection would copy to the pages."""
        self.side.arrived("r", raw_request("inject", owner, segments=segments), TOKENS)
        self.side.admitted("r", self.side.lookup("r", TOKENS, 0))
        plan = self.step({"r": (0, TOKENS, list(range(5)))})
        self.side.finished("r")
        return [] if plan.load is None else self.worker._device.data[plan.load.arena, 0].tolist()


class _Rows:
    """A store of int32 [slots, 1]."""

    def __init__(self, slots: int) -> None:
        self.data = torch.zeros(slots, 1, dtype=torch.int32)

    def rows(self) -> list[torch.Tensor]:
        return [self.data]


def test_a_snapshot_is_read_back_by_the_next_engine(tmp_path: Path) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5 b:5:9")
    assert first.ask("snapshot")["resident"] == ["a", "b"]
    second = Pair(tmp_path)
    assert second.ask("restore")["resident"] == ["a", "b"]
    assert second.injected("b:0:4 a:4:7") == [105, 106, 107, 108, 102, 103, 104]
    second.side.check_integrity()


def test_what_is_in_host_memory_is_part_of_a_snapshot(tmp_path: Path) -> None:
    first = Pair(tmp_path, host=12)
    first.encode("a:2:5 b:5:9")
    first.side.arrived("d", raw_request("demote", "anna"), 1)
    plan = first.side.step_orders({})
    for move in plan.moves:
        first.worker._host.data[move.host] = first.worker._device.data[move.device]
    first.side.finished("d")
    first.encode("c:10:12")
    assert sorted(first.ask("snapshot")["resident"]) == ["a", "b", "c"]  # type: ignore[call-overload]
    second = Pair(tmp_path)
    second.ask("restore")
    assert second.injected("a:0:3 c:3:5") == [102, 103, 104, 110, 111]


@pytest.mark.parametrize(("owner", "model"), [("ben", "model"), ("anna", "another model")])
def test_nobody_elses_snapshot_is_read(tmp_path: Path, owner: str, model: str) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5")
    first.ask("snapshot")
    outcome = Pair(tmp_path).ask("restore", owner, model)
    assert outcome["resident"] == []
    assert "snapshot" in str(outcome["note"])


def test_a_snapshot_that_is_not_read_is_deleted(tmp_path: Path) -> None:
    for model, ranks in (("another model", 1), ("model", 2)):
        first = Pair(tmp_path)
        first.encode("a:2:5")
        first.ask("snapshot")
        Pair(tmp_path, rank=(0, ranks)).ask("restore", model=model)
        assert list(tmp_path.iterdir()) == []


def test_forgetting_deletes_the_snapshot(tmp_path: Path) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5 b:5:9")
    first.ask("snapshot")
    assert len(list(tmp_path.iterdir())) == 1
    first.side.arrived("d", raw_request("drop", "anna", segments="a"), 1)
    assert list(tmp_path.iterdir()) == []


def test_what_is_forgotten_while_it_is_written_is_not_left_on_disk(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    pair.encode("a:2:5 b:5:9")
    pair.side.arrived("s", raw_request("snapshot", "anna", fingerprint="model"), 1)
    plan = pair.side.step_orders({})
    pair.side.arrived("d", raw_request("drop", "anna", segments="a"), 1)
    pair.worker.save(plan)
    assert len(list(tmp_path.iterdir())) == 1
    report = pair.worker.report(StepOrders())
    assert report is not None
    pair.side.report(report)
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_back_is_hidden_until_the_ranks_have_it(tmp_path: Path) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5")
    first.ask("snapshot")
    second = Pair(tmp_path)
    restore = raw_request("restore", "anna", fingerprint="model")
    second.side.arrived("restore", restore, 1)
    second.side.step_orders({})
    inject = raw_request("inject", "anna", segments="a:0:3")
    second.side.arrived("r", inject, TOKENS)
    assert second.side.lookup("r", TOKENS, 0) == 0
    second.side.report(WorkerReport(archived={"restore": ""}))
    assert second.side.lookup("r", TOKENS, 0) == 3


def test_a_rank_that_cannot_read_makes_all_give_up(tmp_path: Path) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5")
    first.ask("snapshot")
    second = Pair(tmp_path)
    second.side.arrived("restore", raw_request("restore", "anna", fingerprint="model"), 1)
    second.side.step_orders({})
    ours, theirs = WorkerReport(archived={"restore": ""}), WorkerReport(archived={"restore": "no"})
    second.side.report(ours.aggregate(theirs))
    outcome = second.side.finished("restore")
    assert outcome is not None
    assert outcome[KEY]["note"] == "no"
    assert "error" not in outcome[KEY]
    second.side.check_integrity()
    assert second.side.stats()["segments"] == 0


def test_what_is_forgotten_while_it_is_read_back_stays_forgotten(tmp_path: Path) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5 b:5:9")
    first.ask("snapshot")
    second = Pair(tmp_path)
    second.side.arrived("restore", raw_request("restore", "anna", fingerprint="model"), 1)
    second.side.step_orders({})
    second.side.arrived("d", raw_request("drop", "anna", segments="a"), 1)
    second.side.report(WorkerReport(archived={"restore": ""}))
    assert second.injected("a:0:3") == []
    assert len(second.injected("b:0:4")) == 4
    second.side.check_integrity()


def test_a_request_that_ends_before_its_step_gives_its_slots_back(tmp_path: Path) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5")
    first.ask("snapshot")
    second = Pair(tmp_path)
    second.side.arrived("restore", raw_request("restore", "anna", fingerprint="model"), 1)
    second.side.finished("restore")
    assert second.side.step_orders({}).restores == ()
    assert second.side.stats()["tokens_used"] == 0
    second.side.check_integrity()


@pytest.mark.parametrize("damage", ["", "not a snapshot", None])
def test_a_damaged_or_missing_file_is_no_snapshot(tmp_path: Path, damage: str | None) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5")
    first.ask("snapshot")
    (file,) = tmp_path.iterdir()
    if damage is None:
        file.unlink()
    else:
        file.write_text(damage)
    assert Pair(tmp_path).ask("restore")["note"] == "there is no snapshot"


def test_a_part_of_another_snapshot_is_not_read(tmp_path: Path) -> None:
    rows = [torch.zeros(3, 1, dtype=torch.int32)]
    path = snapshots.path_of(str(tmp_path), "anna", 0, 1)
    snapshots.write(path, snapshots.Contents("model", (("a", 3),)), rows)
    other = snapshots.Contents("model", (("b", 3),))
    with pytest.raises(OSError, match="another snapshot"):
        snapshots.read(path, other.version)


def test_a_snapshot_in_which_a_bit_was_changed_is_not_served(tmp_path: Path) -> None:
    first = Pair(tmp_path)
    first.encode("a:2:5 b:5:9")
    first.ask("snapshot")
    (file,) = tmp_path.iterdir()
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    second = Pair(tmp_path)
    # No error either, or its owner's facts would not be encoded again.
    outcome = second.ask("restore")
    assert str(outcome["note"]).endswith("is damaged")
    assert outcome["resident"] == []
    assert "error" not in outcome
    assert second.injected("a:2:5") == []
    assert second.side.stats()["tokens_used"] == 0
    second.side.check_integrity()


def test_only_its_user_can_read_a_snapshot(tmp_path: Path) -> None:
    folder = tmp_path / "kv"
    first = Pair(folder)
    first.encode("a:2:5")
    first.ask("snapshot")
    (file,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


def test_the_oldest_snapshots_make_room(tmp_path: Path) -> None:
    rows = [torch.zeros(100, 1, dtype=torch.int32)]
    for owner in ("old", "older than none", "mine"):
        path = snapshots.path_of(str(tmp_path), owner, 0, 1)
        snapshots.write(path, snapshots.Contents("model", (("a", 100),)), rows)
    size = path.stat().st_size
    snapshots.prune(str(tmp_path), 2 * size, "old")
    assert len(list(tmp_path.iterdir())) == 2
    snapshots.prune(str(tmp_path), 0, "mine")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
