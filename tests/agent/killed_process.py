"""A process that talks and is killed: prints what it was promised, one JSON line each."""

import asyncio
import json
import sys

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate
from agent.extraction.rule_extractor import RuleExtractor
from agent.reply_events import TextDelta
from memory_engine.types import Mode
from tests.agent.agent_builder import opened


class Slow(RuleExtractor):
    """Remembers the first turns at once and then hangs."""

    def __init__(self) -> None:
        self.turns = 0

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        self.turns += 1
        if self.turns > 3:
            await asyncio.sleep(3600)
        return await super().extract(turn)


def say(what: str, value: str) -> None:
    print(json.dumps([what, value]), flush=True)


async def main(database_url: str) -> None:
    async with opened(database_url, extractor=Slow(), delay=0.01) as parts:
        conversation = await parts.service.new_conversation("ann")
        for number in range(1000):
            fact = await parts.service.add_fact("ann", f"I know word {number}.")
            say("fact", fact.text)
            message = f"I own boat {number}."
            replies = parts.service.reply(
                user="ann", message=message, mode=Mode.KV, conversation_id=conversation
            )
            async for event in replies:
                if isinstance(event, TextDelta):
                    say("turn", message)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
