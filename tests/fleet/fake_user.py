"""A user of the fleet, over the OpenAI API: tells facts, asks, and keeps a journal."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import httpx2
import openai

from tests.fleet.secret_words import SecretWords
from tests.fleet.user_journal import NO_ANSWER, Failure, Journal

FACTS = (
    "My neighbour {} plays chess.",
    "My colleague {} collects stamps.",
    "I have a friend called {}.",
)
TRIES = 30
PAUSE_S = 1.0
KV_THERE_S = 120.0


@dataclass
class Announced:
    """The result of one message. `account` is InferScale's own, of a reply that ended."""

    text: str = ""
    account: dict[str, Any] | None = None
    failure: Failure | None = None


@dataclass
class Person:
    """`apps` are the app processes, in the order in which this user comes to them."""

    name: str
    apps: Sequence[openai.AsyncOpenAI]
    words: SecretWords
    journal: Journal
    first: Callable[[], None] = lambda: None  # called at the first word of each reply
    said: list[str] = field(default_factory=list)
    _sent: set[str] = field(default_factory=set)
    _turn: "itertools.count[int]" = field(default_factory=itertools.count)

    async def tell(self, app: int = 0) -> Announced:
        """Tell a new fact, again and again until it is acknowledged."""
        word = self.words.new(self.name)
        text = FACTS[next(self._turn) % len(FACTS)].format(word)
        self.said.append(text)
        told = await self.chat(text, app)
        if self._acknowledged(text):
            self.journal.facts.setdefault(self.name, []).append(word)
        return told

    async def ask(self, app: int = 0, tokens: int = 6) -> Announced:
        """Ask something, again and again until it is acknowledged."""
        return await self.chat(f"Question {next(self._turn)}: whom do I know?", app, tokens)

    async def chat(self, message: str, app: int = 0, tokens: int = 6) -> Announced:
        """Send a message until it is acknowledged, to the next app after each failure.

        Never again after that: another copy would hide that the first one was lost.
        """
        told = Announced()
        for attempt in range(TRIES):
            told = await self.once(message, app + attempt, tokens)
            if self._acknowledged(message):
                return told
            await asyncio.sleep(PAUSE_S)
        return told

    async def once(self, message: str, app: int, tokens: int = 6) -> Announced:
        """Send a message once. What is shown of a reply acknowledges the message.

        Of a message that was sent before, the API stores no further reply.
        """
        self.journal.messages += 1
        began, told, new = monotonic(), Announced(), message not in self._sent
        self._sent.add(message)
        try:
            async for piece, account in self._stream(message, app, tokens):
                if piece and not told.text:
                    self.journal.ttft_ms.append((monotonic() - began) * 1000)
                    self._acknowledge(message)
                    self.first()
                told.text += piece
                told.account = account or told.account
        except openai.APIStatusError as error:
            told.failure = Failure(error.status_code, _message(error))
        except (openai.APIConnectionError, httpx2.TransportError):
            told.failure = Failure(0, NO_ANSWER)
        except openai.APIError as error:
            told.failure = Failure(0, error.message)
        if told.failure is None and told.account is None:
            told.failure = Failure(0, NO_ANSWER)
        if new and told.text and (told.failure is None or told.failure.message != NO_ANSWER):
            self.journal.turns[self.name].append(told.text)
        self._note(message, told)
        return told

    async def compare(self, app: int = 0) -> None:
        """Note whether KV gives another reply than text, once the KV of all facts is there.

        All facts are within one window, so that the two are the same but for rounding.
        """
        question, deadline = "Whom do I know?", monotonic() + KV_THERE_S
        while monotonic() < deadline:
            kv = await self._aside(question, app, "kv")
            if kv is not None and all(fact["injected"] for fact in kv[1]["facts"]):
                text = await self._aside(question, app, "text")
                if text is not None:
                    self.journal.compared += 1
                    if kv[0] != text[0]:
                        self.journal.wrong.append(f"{self.name}: {kv[0]!r}, as text {text[0]!r}")
                    return
            await asyncio.sleep(PAUSE_S)
        self.journal.wrong.append(f"{self.name}: no KV for {KV_THERE_S:.0f} s")

    async def _aside(self, message: str, app: int, mode: str) -> tuple[str, dict[str, Any]] | None:
        """A reply that leaves nothing, and its account; None after an error."""
        try:
            reply = await self._create(message, app, 6, mode=mode, remember=False)
        except openai.APIError:
            return None
        account: dict[str, Any] = reply.model_extra["inferscale"]
        self._look(account)
        return reply.choices[0].message.content or "", account

    async def _stream(self, message: str, app: int, tokens: int) -> Any:
        pieces = await self._create(message, app, tokens, stream=True)
        async for chunk in pieces:
            content = chunk.choices[0].delta.content if chunk.choices else None
            yield content or "", (chunk.model_extra or {}).get("inferscale")

    async def _create(
        self, message: str, app: int, tokens: int, *, stream: bool = False, **more: object
    ) -> Any:
        api = self.apps[app % len(self.apps)]
        return await api.chat.completions.create(
            model="inferscale-kv",
            user=self.name,
            messages=[{"role": "user", "content": message}],
            max_completion_tokens=tokens,
            stream=stream,
            extra_body={"inferscale": more},
        )

    def _note(self, message: str, told: Announced) -> None:
        if told.failure is not None:
            self.journal.failures.append(told.failure)
            return
        assert told.account is not None
        self._acknowledge(message)
        self.journal.injected += any(fact["injected"] for fact in told.account["facts"])
        self._look(told.account)
        others = self.words.of_others(told.text, self.name)
        self.journal.foreign += [f"{self.name} read {word}" for word in others]

    def _look(self, account: dict[str, Any]) -> None:
        """Note memories that are not this user's, or that nobody said."""
        for fact in account["facts"]:
            others = self.words.of_others(fact["text"], self.name)
            self.journal.foreign += [f"{self.name} was served {word}" for word in others]
            if not others and fact["text"] not in self.said:
                self.journal.wrong.append(f"{self.name} was served {fact['text']!r}")

    def _acknowledge(self, message: str) -> None:
        if not self._acknowledged(message):
            self.journal.turns.setdefault(self.name, []).append(message)

    def _acknowledged(self, message: str) -> bool:
        return message in self.journal.turns.get(self.name, ())


def _message(error: openai.APIStatusError) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return str(body.get("message") or "")
