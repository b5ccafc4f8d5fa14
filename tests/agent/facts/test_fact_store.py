"""Facts are reconciled with what is known and saved under one lock."""

from agent.conversations.conversation_store import ConversationStore
from agent.extraction.candidate import Candidate
from agent.facts.fact_store import FactStore
from agent.facts.forgetting import Forgetting
from memory_engine.types import Scope
from tests.agent.agent_builder import opened


def home(value: str) -> Candidate:
    text = f"I live in {value}."
    return Candidate(text, text, "home", value)


async def test_a_filler_told_today_and_left_out_tomorrow_makes_one_fact(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I'm quite tall.")
        await parts.say("I am tall.")
        assert await parts.known() == ["I'm quite tall."]
        (fact,) = await parts.service.facts("ann")
        assert len((await parts.service.fact("ann", fact.id)).sources) == 2


async def test_what_a_turn_teaches_is_reconciled_and_the_turn_is_remembered(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        facts, conversations = FactStore(parts.database), ConversationStore(parts.database)
        turn = await conversations.add_message("ann", None, "Homes.", remember=True)
        await facts.learn(turn, [home("Bern"), home("Rome")])
        await facts.learn(turn, [home("Oslo")])
        assert [fact.text for fact in await facts.active("ann")] == ["I live in Rome."]
        assert await conversations.pending("ann") == []


async def test_a_turn_that_is_gone_teaches_nothing(database_url: str) -> None:
    async with opened(database_url) as parts:
        facts, conversations = FactStore(parts.database), ConversationStore(parts.database)
        turn = await conversations.add_message("ann", None, "Homes.", remember=True)
        await Forgetting(parts.database).conversation("ann", turn.conversation_id)
        await facts.learn(turn, [home("Bern")])
        assert await facts.active("ann") == []


async def test_what_a_turn_teaches_leaves_the_facts_of_other_scopes_alone(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        facts = FactStore(parts.database)
        await facts.add("ann", [home("Bern")], Scope(agent="coach"))
        await parts.agent.fact_manager.teach("ann", "Home?", "Rome.", [home("Rome")])
        assert [f.text for f in await facts.active("ann")] == ["I live in Bern.", "I live in Rome."]


async def test_each_candidate_by_hand_is_held_against_those_before_it(database_url: str) -> None:
    async with opened(database_url) as parts:
        facts = FactStore(parts.database)
        added = await facts.add("ann", [home("Bern"), home("Rome"), home("Rome")])
        assert [f.text for f in added] == ["I live in Bern.", "I live in Rome.", "I live in Rome."]
        assert [f.text for f in await facts.active("ann")] == ["I live in Rome."]
        kinds = [event.kind for event in await facts.history("ann")]
        assert kinds == ["added", "superseded", "added"]
