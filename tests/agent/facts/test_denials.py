"""Denials are stored with what they deny, and older rows are read as they were."""

import json
from typing import Any

import pytest
from sqlalchemy import select, update

from agent.db.tables import FactRow
from agent.entities import Denial
from agent.extraction.candidate import Candidate
from agent.facts.erasure_audit import audit_rows
from agent.facts.forgetting import clear_forgotten_denials
from tests.agent.agent_builder import Parts, assert_absent, opened

GONE = "I don't live in Zanzibar any more."


async def stored(parts: Parts) -> list[tuple[str | None, str | None, str | None]]:
    """Attribute, denied attribute and denied value of all fact rows."""
    query = select(FactRow.attribute, FactRow.denied_attribute, FactRow.denied_value)
    async with parts.database.read() as session:
        return [(a, b, c) for a, b, c in await session.execute(query.order_by(FactRow.id))]


async def as_written_before_0008(parts: Parts) -> None:
    """Take away what the code before revision 0008 did not write."""
    async with parts.database.write() as session:
        await session.execute(update(FactRow).values(denied_attribute=None, denied_value=None))


async def test_a_denial_is_stored_with_its_attribute_and_value(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say(GONE)
        await parts.say("I ski.")
        assert await stored(parts) == [(None, "home", "Zanzibar"), (None, "", "")]
        assert [f.denies for f in await parts.service.facts("ann")] == [
            Denial("home", "Zanzibar"),
            None,
        ]


async def test_a_value_that_holds_again_supersedes_its_denial_in_any_language(
    database_url: str,
) -> None:
    german = Candidate("", "Ich wohne nicht mehr in Bern.", "home", "Bern", denied=True)
    again = Candidate("", "Ich wohne wieder in Bern.", "home", "Bern")
    async with opened(database_url) as parts:
        await parts.agent.fact_manager.add("ann", [german])
        await parts.agent.fact_manager.add("ann", [again])
        assert await parts.known() == ["Ich wohne wieder in Bern."]


@pytest.mark.parametrize("older", [False, True])
async def test_a_denial_stored_before_revision_0008_is_superseded_as_it_was(
    database_url: str, older: bool
) -> None:
    async with opened(database_url) as parts:
        await parts.say(GONE)
        await parts.say("I don't live in Rome any more.")
        await parts.say("I can't live without coffee.")
        if older:
            await as_written_before_0008(parts)
        await parts.say("I moved to Zanzibar.")
        assert await parts.known() == [
            "I don't live in Rome any more.",
            "I can't live without coffee.",
            "I moved to Zanzibar.",
        ]


async def test_what_was_denied_is_forgotten_with_the_fact(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say(GONE)
        await parts.service.forget_everything("bob")
        conversation = (await parts.service.conversations("ann"))[0]
        await parts.service.forget_conversation("ann", conversation.id)
        assert await stored(parts) == [(None, None, None)]
        await assert_absent("zanzibar", parts)


async def test_what_an_older_version_left_in_a_row_it_forgot_is_found_and_emptied(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await parts.say(GONE)
        await parts.say("I ski.")
        for fact in await parts.service.facts("ann"):
            await parts.service.forget_fact("ann", fact.id)
        left = update(FactRow).values(denied_attribute="home", denied_value="Zanzibar")
        async with parts.database.write() as session:
            await session.execute(left.where(FactRow.id == 1))
            await session.execute(
                update(FactRow).where(FactRow.id == 2).values(denied_attribute="")
            )
        assert not (await audit_rows(parts.database, "ann"))[1].ok
        await parts.agent.maintenance.once()
        assert await stored(parts) == [(None, None, None), (None, "", None)]
        assert (await audit_rows(parts.database, "ann"))[1].ok
        assert await clear_forgotten_denials(parts.database) == 0


async def exported(parts: Parts, user: str = "ann") -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        (await parts.service.export_facts(user)).model_dump_json()
    )
    return document


async def test_an_export_carries_denials_also_those_of_older_rows(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say(GONE)
        await parts.say("I ski.")
        document = await exported(parts)
        denied = {"attribute": "home", "value": "Zanzibar"}
        assert [fact["denies"] for fact in document["facts"]] == [denied, None]
        await parts.service.import_facts("bob", json.dumps(document))
        assert await stored(parts) == [(None, "home", "Zanzibar"), (None, "", "")] * 2
        await as_written_before_0008(parts)
        assert (await exported(parts))["facts"] == document["facts"]


async def test_a_document_of_version_1_is_imported_and_its_denials_count(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await parts.say(GONE)
        document = await exported(parts) | {"version": 1}
        for fact in document["facts"]:
            del fact["denies"]
        await parts.service.import_facts("bob", json.dumps(document))
        assert (await stored(parts))[1] == (None, None, None)
        await parts.say("I moved to Zanzibar.", "bob")
        assert await parts.known("bob") == ["I moved to Zanzibar."]
