"""From what was said to what is known: order, faults, forgetting, restarts."""

import logging

import pytest
from sqlalchemy import update

from agent.agent import WARM_OWNERS
from agent.db.tables import FactRow, TurnRow
from agent.db.utc import utc_now
from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.rule_extractor import RuleExtractor
from agent.remember.remember_worker import ATTEMPTS, LEFT_AFTER
from memory_engine.errors import EngineError, EngineStoppedError
from tests.agent.agent_builder import assert_absent, opened, turn_rows


class Failing(RuleExtractor):
    """Fails on messages that contain `word`, the first `times` times."""

    def __init__(self, word: str, times: int = 10**9) -> None:
        self.word, self.times = word, times

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        if self.word in turn.text and self.times > 0:
            self.times -= 1
            raise EngineError("the reply of the model was cut off")
        return await super().extract(turn)


async def test_a_failing_turn_is_logged_and_visible_and_holds_nobody_up(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(database_url, extractor=Failing("Bern")) as parts:
        await parts.say("I live in Bern.")
        await parts.say("I have a cat.")
        assert await parts.known() == ["I have a cat."]
        failed = (await turn_rows(parts))[0]
    assert (failed.remember, failed.remember_attempts) == ("failed", ATTEMPTS)
    assert failed.remember_error == "EngineError: the reply of the model was cut off"
    assert failed.remembered_at is None
    errors = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert len(errors) == ATTEMPTS


async def test_a_turn_that_fails_once_is_remembered_in_its_order(database_url: str) -> None:
    async with opened(database_url, extractor=Failing("Bern", times=1)) as parts:
        conversation = await parts.service.new_conversation("ann")
        await parts.ask("I live in Bern.", conversation_id=conversation)
        await parts.ask("I moved to Zurich.", conversation_id=conversation)
        await parts.service.settle("ann")
        assert await parts.known() == ["I moved to Zurich."]
        assert [r.remember for r in await turn_rows(parts)] == ["done", None, "done", None]


async def test_a_turn_that_failed_is_tried_again_at_the_next_start(database_url: str) -> None:
    async with opened(database_url, extractor=Failing("Bern")) as parts:
        await parts.say("I live in Bern.")
        assert await parts.known() == []
    async with opened(database_url) as parts:
        await parts.service.settle("ann")
        assert await parts.known() == ["I live in Bern."]


async def test_an_outage_is_not_the_turns_fault_and_it_stays_pending(database_url: str) -> None:
    class Stopped(RuleExtractor):
        stopped = True

        async def extract(self, turn: UserTurn) -> list[Candidate]:
            if self.stopped:
                raise EngineStoppedError("the engine restarts")
            return await super().extract(turn)

    extractor = Stopped()
    async with opened(database_url, extractor=extractor) as parts:
        await parts.say("I live in Bern.")
        (row, _) = await turn_rows(parts)
        assert (row.remember, row.remember_attempts) == ("pending", 0)
        extractor.stopped = False
        async with parts.database.write() as session:
            await session.execute(update(TurnRow).values(created_at=utc_now() - LEFT_AFTER))
        await parts.agent.maintenance.once()
        await parts.service.settle("ann")
        assert await parts.known() == ["I live in Bern."]


async def test_a_crash_before_remembering_is_made_good_at_the_next_start(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.agent.conversations.add_message("ann", None, "I live in Bern.", remember=True)
    async with opened(database_url) as parts:
        await parts.service.start()
        await parts.service.settle("ann")
        assert await parts.known() == ["I live in Bern."]
        assert (await turn_rows(parts))[0].remembered_at is not None


async def test_shutting_down_remembers_what_is_queued(database_url: str) -> None:
    async with opened(database_url) as parts:
        for n in range(5):
            await parts.ask(f"I own boat {n}.")
    async with opened(database_url) as parts:
        assert len(await parts.known()) == 5


async def test_remembering_a_turn_twice_changes_nothing(database_url: str) -> None:
    """LobeHub#15521: work that failed midway is done again, and doubles what it made."""
    async with opened(database_url) as parts:
        await parts.say("I have a cat.")
        row = (await turn_rows(parts))[0]
        turn = UserTurn(row.id, "ann", str(row.conversation_id), row.text, row.created_at)
        await parts.agent._remember(turn)
        assert len(await parts.service.history("ann")) == 1


async def test_forgetting_removes_the_text_everywhere_but_from_the_conversation(
    database_url: str,
) -> None:
    async with opened(database_url) as parts:
        await parts.service.add_fact("ann", "My dog is called Zanzibarius yesterday.")
        (fact,) = await parts.service.facts("ann")
        await parts.service.forget_fact("ann", fact.id)
        assert await parts.service.facts("ann") == []
        assert parts.memory.synced[-1] == ("ann", ())
        assert parts.memory.settled[-1] == "ann"
        assert not any("Zanzibarius" in s for s in parts.engine.resident("ann"))
        events = await parts.service.history("ann", fact.id)
        assert [(e.kind, e.text) for e in events] == [("added", None), ("forgotten", None)]
        async with parts.database.read() as session:
            row = await session.get_one(FactRow, int(fact.id))
            assert (row.text, row.same_as, row.attribute, row.time_expression) == (None,) * 4
        await assert_absent("zanzibarius", parts)
        await parts.service.forget_fact("ann", fact.id)
        assert len(await parts.service.history("ann")) == 2


async def test_a_superseded_fact_can_be_forgotten_too(database_url: str) -> None:
    async with opened(database_url) as parts:
        await parts.say("I live in Bern.")
        await parts.say("I live in Rome.")
        old = (await parts.service.history("ann"))[0].fact_id
        await parts.service.forget_fact("ann", old)
        texts = [(e.kind, e.text) for e in await parts.service.history("ann")]
    assert texts == [
        ("added", None),
        ("superseded", None),
        ("added", "I live in Rome."),
        ("forgotten", None),
    ]


async def test_another_process_that_changes_facts_is_noticed(database_url: str) -> None:
    async with opened(database_url) as server, opened(database_url) as command:
        await server.say("I have a cat.")
        await command.service.add_fact("ann", "I have a parrot.")
        assert {f.text for f in (await server.ask("Pets?")).facts} == {
            "I have a cat.",
            "I have a parrot.",
        }
        (cat, _) = await command.service.facts("ann")
        await command.service.forget_fact("ann", cat.id)
        assert [f.text for f in (await server.ask("Pets?")).facts] == ["I have a parrot."]


async def test_facts_come_in_the_order_they_were_said(database_url: str) -> None:
    said = ["I have a cat.", "I ski.", "My car is red.", "I play golf."]
    async with opened(database_url) as parts:
        await parts.say(" ".join(said[:2]))
        for text in said[2:]:
            await parts.say(text)
        assert await parts.known() == said
        assert parts.memory.synced[-1] == ("ann", tuple(said))


async def test_preceding_turns_come_from_the_conversation(database_url: str) -> None:
    async with opened(database_url, reply=lambda prompt: "Yes.") as parts:
        conversation = await parts.service.new_conversation("ann")
        for text in ("Hello", "I have a cat."):
            await parts.say(text, conversation_id=conversation)
        (fact,) = await parts.service.facts("ann")
        assert await parts.agent.facts.preceding_turns("ann", 8) == {fact.id: ("Hello", "Yes.")}
        assert await parts.agent.facts.preceding_turns("ann", 1) == {fact.id: ("Yes.",)}


async def test_the_latest_users_facts_are_held_before_anything_is_asked(database_url: str) -> None:
    async with opened(database_url) as parts:
        for n in range(6):
            await parts.service.add_fact(f"user{n}", "I ski.")
    async with opened(database_url) as parts:
        await parts.service.start()
        await parts.service.start()
        assert parts.agent._warming is not None
        await parts.agent._warming
        assert WARM_OWNERS == 4
        assert [owner for owner, _ in parts.memory.synced] == ["user5", "user4", "user3", "user2"]
        await parts.service.settle("user0")
        assert parts.memory.synced[-1] == ("user0", ("I ski.",))
