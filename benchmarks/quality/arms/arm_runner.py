"""Runner of a comparison: each question is asked in every arm.

none       the question without facts
text       with facts, all prefilled
kv         the same token ids, with the facts' KV injected
reordered  text again, with the facts before the tail in the other order
relevance  text again, with all facts in order of relevance and no tail

The last two are changes that nobody minds: what they cost is what to measure KV by.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.composition import Progress
from benchmarks.quality.arms.cases import Case, ConversationCases
from benchmarks.quality.arms.encoded_conversation import EncodedConversation
from benchmarks.quality.arms.setups import Order, Setup
from benchmarks.quality.datasets.locomo import LocomoQuestion
from memory_engine.engines.base import Engine
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.types import Mode, Prompt

ARMS = ("none", "text", "kv", "reordered", "relevance")
_OTHER: dict[Order, Order] = {"time": "relevance", "relevance": "time"}
_IN_FLIGHT, _IN_FLIGHT_CPU = 128, 4  # questions

T = TypeVar("T")
Ask = Callable[[Prompt, Mode, LocomoQuestion], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class ArmResults(Generic[T]):
    """The results of one question, by arm."""

    case: Case
    arms: dict[str, T]


class ArmRunner(Generic[T]):
    """Asks questions on a started engine with `ask`.

    room: tokens of the longest reply or answer. instruction: said behind every question.
    What does not depend on how facts are encoded is asked once: text and no facts.
    """

    def __init__(
        self,
        engine: Engine,
        tokenizer: ChatTokenizer,
        ask: Ask[T],
        room: int,
        instruction: str = "",
    ) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._ask = ask
        self._room = room
        self._instruction = instruction
        at_once = _IN_FLIGHT_CPU if engine.info.device == "cpu" else _IN_FLIGHT
        self._turns = asyncio.Semaphore(at_once)
        self._as_text: dict[tuple[object, ...], T] = {}

    async def measure(
        self,
        conversations: Sequence[ConversationCases],
        setups: Sequence[Setup],
        progress: Progress,
    ) -> dict[Setup, list[ArmResults[T]]]:
        """Ask every question in every setup. One conversation's facts are held at a time."""
        results: dict[Setup, list[ArmResults[T]]] = {setup: [] for setup in setups}
        for conversation in conversations:
            for window in dict.fromkeys(setup.window for setup in setups):
                progress(
                    f"{conversation.id}: encoding {len(conversation.facts)} facts, window {window}"
                )
                encoded = EncodedConversation(self._engine, self._tokenizer, conversation, window)
                await encoded.encode()
                for setup in (setup for setup in setups if setup.window == window):
                    progress(f"{conversation.id}: {len(conversation.cases)} questions, {setup}")
                    results[setup] += await self._all(encoded, conversation.cases, setup)
                await encoded.drop()
        return results

    async def _all(
        self, encoded: EncodedConversation, cases: Iterable[Case], setup: Setup
    ) -> list[ArmResults[T]]:
        try:
            async with asyncio.TaskGroup() as tasks:
                asked = [tasks.create_task(self._one(encoded, case, setup)) for case in cases]
        except ExceptionGroup as group:
            # The first failure says what the others would say again.
            raise group.exceptions[0] from group
        return [task.result() for task in asked]

    async def _one(self, encoded: EncodedConversation, case: Case, setup: Setup) -> ArmResults[T]:
        question, recalled = case.question, case.recalled(setup.k)
        text = question.text + self._instruction

        def laid_out(order: Order, tail: int) -> Prompt:
            return encoded.prompt(text, recalled, order, tail, self._room)

        def as_text(order: Order, tail: int) -> Awaitable[T]:
            return self._text(laid_out(order, tail), question, (question.id, setup.k, tail, order))

        async with self._turns:
            nothing = encoded.prompt(text, (), setup.order, setup.tail, self._room)
            prompt = laid_out(setup.order, setup.tail)
            return ArmResults(
                case,
                {
                    "none": await self._text(nothing, question, (question.id,)),
                    "text": await as_text(setup.order, setup.tail),
                    "kv": await self._ask(prompt, Mode.KV, question),
                    "reordered": await as_text(_OTHER[setup.order], setup.tail),
                    "relevance": await as_text("relevance", 0),
                },
            )

    async def _text(self, prompt: Prompt, question: LocomoQuestion, key: tuple[object, ...]) -> T:
        if key not in self._as_text:
            self._as_text[key] = await self._ask(prompt, Mode.TEXT, question)
        return self._as_text[key]
