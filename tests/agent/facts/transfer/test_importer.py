"""Facts out of one database and into another: complete, once, and never beyond their scope."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.extraction.candidate import Candidate
from agent.facts.transfer.importer import Imported
from memory_engine.errors import UserError
from memory_engine.types import Scope
from tests.agent.agent_builder import Parts, opened, url_of


async def exported(parts: Parts, user: str = "ann") -> str:
    return (await parts.service.export_facts(user)).model_dump_json()


async def filled(parts: Parts) -> str:
    """A person with a history; returns the export."""
    await parts.say("I live in Bern.")
    await parts.say("I moved to Zurich.")
    await parts.say("I went to Rome in May 2020.")
    await parts.service.add_fact("ann", "I ski \U0001f3bf.", Scope(agent="coach"))
    await parts.agent.fact_manager.add("ann", [Candidate("", "I am tired.", kind="transient")])
    gone = await parts.service.add_fact("ann", "I collect zanzibars.")
    await parts.service.forget_fact("ann", gone.id)
    return await exported(parts)


def told(document: str) -> list[dict[str, Any]]:
    """The facts of an export without what belongs to its database."""
    facts = json.loads(document)["facts"]
    texts = {fact["id"]: fact["text"] for fact in facts}
    for fact in facts:
        del fact["id"], fact["sources"], fact["by_hand"]
        fact["superseded_by"] = texts.get(fact["superseded_by"])
        for event in fact["events"]:
            event["by"] = texts.get(event["by"])
    return list(facts)


async def test_an_export_has_sources_validity_and_events_and_nothing_forgotten(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        document = json.loads(await filled(parts))
    assert (document["format"], document["version"], document["user"]) == (
        "inferscale-facts", 2, "ann",
    )  # fmt: skip
    bern, zurich, rome, ski, tired = document["facts"]
    assert bern["superseded_by"] == zurich["id"]
    assert bern["valid_to"] == zurich["valid_from"]
    assert [event["kind"] for event in bern["events"]] == ["added", "superseded"]
    assert bern["sources"][0]["text"] == "I live in Bern."
    assert (zurich["attribute"], rome["kind"]) == ("home", "event")
    assert rome["when"] == rome["created_at"][:10]
    assert (ski["agent"], ski["by_hand"], ski["sources"]) == ("coach", True, [])
    assert (tired["kind"], tired["valid_to"] is not None) == ("transient", True)
    assert "zanzibar" not in json.dumps(document)


async def test_what_is_imported_elsewhere_is_what_was_exported(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    async with opened(url_of(tmp_path / "one")) as parts:
        document = await filled(parts)
        known = await parts.known()
    async with opened(url_of(tmp_path / "two")) as parts:
        await parts.service.add_fact("bob", "Somebody else was here first.")
        assert await parts.service.import_facts("ann", document) == Imported(5, 0, 0)
        assert await parts.known() == known
        assert told(await exported(parts)) == told(document)
        assert {f.text for f in (await parts.ask("Rome?")).facts} == set(known) - {
            "I ski \U0001f3bf."
        }
        await parts.service.undo("ann", "2")
        assert "I live in Bern." in await parts.known()


async def test_importing_twice_changes_nothing(database_url: str) -> None:
    async with opened(database_url) as parts:
        document = await filled(parts)
        before = await parts.service.history("ann")
        assert await parts.service.import_facts("ann", document) == Imported(0, 5, 0)
        assert await parts.service.import_facts("bob", document) == Imported(5, 0, 0)
        bobs = await exported(parts, "bob")
        assert await parts.service.import_facts("bob", document) == Imported(0, 5, 0)
        assert told(await exported(parts, "bob")) == told(bobs)
        assert await parts.service.history("ann") == before


async def test_an_import_brings_everything_back_after_everything_was_forgotten(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        document = await filled(parts)
        known = await parts.known()
        await parts.service.forget_everything("ann")
        await parts.service.import_facts("ann", document)
        assert await parts.known() == known
        assert told(await exported(parts)) == told(document)


async def test_of_two_values_the_one_said_last_holds(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    async with opened(url_of(tmp_path / "one")) as old, opened(url_of(tmp_path / "two")) as new:
        await old.say("I live in Bern.")
        await new.say("I live in Rome.")
        documents = await exported(old), await exported(new)
        await old.service.import_facts("ann", documents[1])
        await new.service.import_facts("ann", documents[0])
        assert await old.known() == await new.known() == ["I live in Rome."]
        for parts in (old, new):
            ended = [e for e in await parts.service.history("ann") if e.kind == "superseded"]
            assert [e.text for e in ended] == ["I live in Bern."]


async def test_what_is_stated_by_hand_counts_although_another_clock_was_ahead(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        ahead = (await exported(parts)).replace('"created_at":"2', '"created_at":"3')
        await parts.service.import_facts("bob", ahead)
        await parts.service.add_fact("bob", "I live in Rome.")
        assert await parts.known("bob") == ["I live in Rome."]


async def test_a_fact_of_a_conversation_that_is_not_here_does_not_come_to_be_seen_everywhere(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        conversation = await parts.service.new_conversation("ann")
        await parts.service.add_fact("ann", "I plan a party.", Scope(None, conversation))
        document = await exported(parts)
        assert await parts.service.import_facts("bob", document) == Imported(0, 0, 1)
        assert await parts.known("bob") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 3}, "version 3 of the export's schema"),
        ({"version": 0}, "cannot be read: version"),
        ({"format": "other"}, "not an export"),
        ({"facts": [{"id": "1", "text": "x"}]}, r"facts.0.created_at"),
        (
            {"facts": [{"id": "1", "text": "", "created_at": "2026-01-01T00:00:00Z"}]},
            "facts.0.text",
        ),
        ({"facts": [{"id": "1", "text": "x", "created_at": "2026-01-01T00:00:00"}]}, "created_at"),
        ({"facts": [{"id": "1", "text": " \n", "created_at": "2026-01-01T00:00:00Z"}]}, "empty"),
        (
            {"facts": [{"id": "1", "text": "my pin is 1", "created_at": "2026-01-01T00:00:00Z"}]},
            "password",
        ),
    ],
)
async def test_a_document_that_cannot_be_taken_in_is_refused_whole(
    database_url: str, change: dict[str, object], said: str
) -> None:
    async with opened(database_url) as parts:
        await parts.say("I ski.")
        document = json.loads(await exported(parts)) | change
        with pytest.raises(UserError, match=said):
            await parts.service.import_facts("bob", json.dumps(document))
        assert await parts.known("bob") == []


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"inferscale-facts"'])
async def test_what_is_no_export_is_said_to_be_none(database_url: str, text: str) -> None:
    async with opened(database_url) as parts:
        with pytest.raises(UserError, match=r"not JSON|not an export"):
            await parts.service.import_facts("ann", text)


async def test_a_thousand_and_one_facts_are_listed_exported_and_imported(database_url: str) -> None:
    facts = [
        {"id": str(n), "text": f"I own boat {n}.", "created_at": "2026-01-01T00:00:00Z"}
        for n in range(1001)
    ]
    document = {"format": "inferscale-facts", "version": 1, "user": "x", "facts": facts}
    document["exported_at"] = "2026-01-01T00:00:00Z"
    async with opened(database_url) as parts:
        assert (await parts.service.import_facts("ann", json.dumps(document))).added == 1001
        assert len(await parts.service.facts("ann")) == 1001
        assert len(parts.memory.held["ann"]) == 1001
        assert len((await parts.service.export_facts("ann")).facts) == 1001
