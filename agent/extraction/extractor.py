"""Interface of extractors, which find statements in a turn."""

from typing import Protocol

from agent.entities import UserTurn
from agent.extraction.candidate import Candidate


class Extractor(Protocol):
    """Finds statements worth remembering, without regard to the facts known already.

    `quick`: it takes milliseconds, so a reply may wait for it to learn what was just said.
    """

    quick: bool

    async def extract(self, turn: UserTurn) -> list[Candidate]:
        """The statements in `turn`, in order; none is a right answer.

        Raises EngineError when it could not tell, so that the turn is tried again.
        """
        ...
