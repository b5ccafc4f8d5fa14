"""Memory as a whole: where it is, in and out, the sample, forgetting everything."""

import json
from pathlib import Path

from memory_engine.encoding.residency import Residency, Tier
from tests.agent.agent_builder import Parts, opened, url_of
from ui.chat.running_turns import RunningTurns
from ui.conversations.conversation_panel import ConversationPanel
from ui.memory.bulk_panel import BulkPanel, _residency
from ui.parts.page_states import Changes


def panel_of(parts: Parts) -> BulkPanel:
    leave = ConversationPanel(parts.service, "ann", RunningTurns()).leave
    return BulkPanel(parts.service, "ann", leave)


async def forgotten(parts: Parts, typed: str) -> list[Changes]:
    return [step async for step in panel_of(parts).forget_everything("tab", typed)]


async def test_where_memory_is_counts_facts_and_bytes(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.service.add_facts("ann", ["I ski.", "I swim."])
        (step,) = [step async for step in panel_of(parts).where()]
        shown = step["residency"]
    assert "2 facts encoded, 2.0 KiB of KV" in shown
    assert "2.0 KiB of 1.0 MiB" in shown
    assert "Host memory" not in shown


def test_what_waits_and_what_is_in_host_memory_is_told() -> None:
    encoded, host = {"1": 300, "3": 212}, frozenset({"3"})
    found = Residency(encoded, host, frozenset({"2"}), Tier(512, 1024), Tier(0, 3 << 30))
    shown = _residency(found)
    assert (
        "2 facts encoded, 512 B of KV: 1 on the device, 1 in host memory; 1 not encoded yet."
        in shown
    )
    assert "width:50.0%" in shown
    assert "0 B of 3.0 GiB" in shown
    assert shown.count("width:") == 1  # what is empty has no bar
    own = _residency(found, shared=True)
    assert "2 facts encoded, 512 B of KV: 1 on the device, 1 in host memory" in own
    assert " of " not in own.replace(" of KV", "")  # how much others have is theirs to know


async def test_what_is_exported_can_be_imported_and_leaves_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    folder.mkdir()
    async with opened(url_of(folder)) as parts:
        await parts.service.add_fact("ann", "I ski.")
        wanted = json.loads((await panel_of(parts).export())["download"])
        assert (wanted["name"], wanted["type"]) == ("facts.json", "application/json")
        await parts.service.forget_everything("ann")
        file = tmp_path / "facts.json"
        file.write_text(wanted["text"])
        said = (await panel_of(parts).take_in(str(file)))["bulk_notice"]
        assert "1 fact added, 0 facts known already." in said
        assert await parts.known() == ["I ski."]
        assert not file.exists()


async def test_a_file_that_is_not_an_export_is_explained(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        for content, told in ((b"{}", "not an export"), (b"\xff\xfe", "not text")):
            file = tmp_path / "facts.json"
            file.write_bytes(content)
            changes = await panel_of(parts).take_in(str(file))
            assert told in changes["bulk_notice"]
            assert not file.exists()
        assert await panel_of(parts).take_in(None) == {}


async def test_the_sample_is_loaded_once_and_removed(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        panel = panel_of(parts)
        assert "50 facts of a sample person" in (await panel.load_sample())["bulk_notice"]
        assert "known about you already" in (await panel.load_sample())["bulk_notice"]
        assert "50 facts of the sample" in (await panel.remove_sample())["bulk_notice"]
        assert "no sample person" in (await panel.remove_sample())["bulk_notice"]
        assert await parts.known() == []


async def test_everything_is_forgotten_only_when_it_was_typed_and_audited(tmp_path: Path) -> None:
    async with opened(url_of(tmp_path)) as parts:
        await parts.say("I ski.")
        (refused,) = await forgotten(parts, "yes")
        assert "to confirm" in refused["bulk_notice"]
        assert await parts.known() == ["I ski."]
        last = (await forgotten(parts, " Forget everything "))[-1]
        assert "1 fact and every conversation forgotten." in last["bulk_notice"]
        assert "Audit: Nothing is left." in last["audit"]
        assert "Left over" not in last["audit"]
        assert last["left"] == []
        assert await parts.known() == []
        assert await parts.service.conversations("ann") == []
